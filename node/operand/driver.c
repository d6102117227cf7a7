#include "node/operand/driver.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "node/agent/signs.h"
#include "node/operand/mounts.h"
#include "node/operand/place.h"
#include "node/operand/program.h"

#define MODULE "sys/module/nvidia/refcnt"
#define DAEMONS "run/nvidia/validations/.driver-daemons-status"
#define MOUNTS "proc/self/mounts"
#define DRIVER_ROOT "/run/nvidia/driver"

/* The kubelet gives the probe a minute. */
enum { SMI_MS = 50 * 1000, MOUNTS_MAX = 1 << 20, SMI_WORDS_MAX = 2048 };

int driver_start(const struct root *root, char *const program[], struct err *e)
{
    if (place_remove(root, SIGN_OF_DRIVER, e) < 0 || place_remove(root, DAEMONS, e) < 0)
        return -1;
    return program_become(program, e);
}

static int check_module(const struct root *root, struct err *e)
{
    mode_t type;
    return root_type(root, MODULE, &type) == 0 ? 0 : err_set(e, ERR_NOT_FOUND, "the module nvidia is not loaded");
}

/* Precompiled images do not write this file. */
static int check_daemons(const struct root *root, struct err *e)
{
    struct sign_words said;
    mode_t type;
    if (root_type(root, DAEMONS, &type) == ENOENT || (sign_read(root, DAEMONS, &said) && str_eq(said.items[0], "Ready")))
        return 0;
    return err_set(e, ERR_NOT_FOUND, "the driver's daemons are not ready");
}

/* What a container that was killed had mounted stays until the next one takes it away: it has to be the root of this one. */
static int check_root(const struct root *root, struct err *e)
{
    CLEANUP_BUF struct buf mounts = BUF_INIT(MOUNTS_MAX);
    int why = root_read(root, MOUNTS, &mounts);
    if (why)
        return err_set(e, ERR_SYSTEM, "cannot read %s: %s", MOUNTS, strerror(why));
    if (!mounts_has((struct part){ buf_text(&mounts), mounts.len }, DRIVER_ROOT))
        return err_set(e, ERR_NOT_FOUND, "the driver's root is not mounted");
    return root_is_at(root, &DRIVER_ROOT[1])
               ? 0
               : err_set(e, ERR_NOT_FOUND, "another container's root is mounted in the place of the driver's");
}

/* What it says is of interest only when it fails. */
static int check_gpus(struct err *e)
{
    CLEANUP_BUF struct buf said = BUF_INIT(SMI_WORDS_MAX);
    char name[] = "nvidia-smi";
    char *const argv[] = { name, NULL };
    if (program_run(argv, SMI_MS, &said, e) == 0)
        return 0;
    struct part words = part_trimmed((struct part){ buf_text(&said), said.len });
    return words.len ? err_wrap(e, "%.*s", (int) words.len, words.at) : -1;
}

static int check_all(const struct root *root, struct err *e)
{
    return check_module(root, e) < 0 || check_daemons(root, e) < 0 || check_root(root, e) < 0 || check_gpus(e) < 0 ? -1 : 0;
}

int driver_probe(const struct root *root, const char *revision, const char *pod, struct err *e)
{
    struct sign_words boot;
    if (check_all(root, e) < 0)
        return -1;
    if (!sign_read_boot(root, &boot))
        return err_set(e, ERR_SYSTEM, "cannot know which start of the machine this is");
    CLEANUP_FREE char *sign = xasprintf("%s %s %s\n", boot.items[0], revision, pod);
    return place_put(root, SIGN_OF_DRIVER, sign, e);
}

int driver_stop(const struct root *root, const char *pod, struct err *e)
{
    struct sign_words sign;
    return sign_read(root, SIGN_OF_DRIVER, &sign) && str_eq(sign.items[2], pod) ? place_remove(root, SIGN_OF_DRIVER, e) : 0;
}
