#include "node/operand/driver.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "node/agent/wait.h"
#include "node/operand/devices.h"
#include "node/operand/driver_files.h"
#include "node/operand/hung.h"
#include "node/operand/mig_devices.h"
#include "node/operand/mounts.h"
#include "node/operand/place.h"
#include "node/operand/program.h"

#define DAEMONS "run/nvidia/validations/.driver-daemons-status"
#define MOUNTS "proc/self/mounts"
#define DRIVER_ROOT "/run/nvidia/driver"
#define DRIVER_DEVICES DRIVER_ROOT "/dev"
/* Mount of the host's /dev/char in the manifest. */
#define LINKS "host-dev-char"

/* LOOK_MS: between checks. SMI_PAUSE_MS: between calls of nvidia-smi, which wakes the GPUs and may
 * write to the kernel log. SMI_MIN_MS: its least time. */
enum { LOOK_MS = 1000, SMI_PAUSE_MS = 10 * 1000, SMI_MIN_MS = 1000, MOUNTS_MAX = 1 << 20 };

/* State files of an earlier container. With old pid files that the host keeps, NVIDIA's program
 * would kill processes of others. */
static const char *const leftovers[] = {
    READY_FILE_OF_DRIVER,
    READY_FILE_OF_NVIDIA,
    DAEMONS,
    "run/nvidia-fabricmanager/nv-fabricmanager.pid",
    "run/nvidia-fabricmanager/nvlsm.pid",
    "run/nvidia-topologyd/nvidia-topologyd.pid",
};

int driver_start(const struct root *root, char *const program[], struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(leftovers); i++)
        if (place_remove(root, leftovers[i], e) < 0)
            return -1;
    return driver_files_put(root, e) == 0 ? program_become(program, e) : -1;
}

static int check_module(const struct root *root, struct err *e)
{
    const char *missing = ready_module_missing(root, READY_MODULE_NVIDIA);
    return missing ? err_set(e, ERR_NOT_FOUND, "%s", missing) : 0;
}

/* Precompiled images do not write this file. */
static int check_daemons(const struct root *root, struct err *e)
{
    struct ready_words said;
    mode_t type;
    if (root_type(root, DAEMONS, &type) == ENOENT ||
        (ready_file_read(root, DAEMONS, &said) && str_eq(said.items[0], "Ready")))
        return 0;
    return err_set(e, ERR_NOT_FOUND, "the driver's daemons are not ready");
}

/* The mount of a killed container stays until the next one removes it: it must be this container's
 * root. */
static int check_root(const struct root *root, struct err *e)
{
    CLEANUP_BUF struct buf mounts = BUF_INIT(MOUNTS_MAX);
    int why = root_read(root, MOUNTS, &mounts);
    if (why)
        return err_set(e, ERR_SYSTEM, "cannot read %s: %s", MOUNTS, strerror(why));
    if (!mounts_has(part_of_buf(&mounts), DRIVER_ROOT))
        return err_set(e, ERR_NOT_FOUND, "the driver's root is not mounted");
    return root_same(root, &DRIVER_ROOT[1], ".")
               ? 0
               : err_set(e, ERR_NOT_FOUND,
                         "another container's root is mounted in place of the driver's");
}

static int check_hung(const struct root *root, const char *pod, struct err *e)
{
    int pid = hung_find(root, "nvidia-smi", pod);
    return pid ? err_set(e, ERR_TIMEOUT,
                         "nvidia-smi hangs in the kernel (process %d): no other is started", pid)
               : 0;
}

/* Whether nvidia-smi can run. */
static int check_up(const struct root *root, const char *pod, struct err *e)
{
    bool is_up = check_module(root, e) == 0 && check_daemons(root, e) == 0 &&
                 check_root(root, e) == 0;
    return is_up ? check_hung(root, pod, e) : -1;
}

static int leave_sign(const struct root *root, const char *revision, const char *pod, struct err *e)
{
    struct ready_words boot;
    if (!boot_id_read(root, &boot))
        return err_set(e, ERR_SYSTEM, "cannot read the boot ID of the machine");
    CLEANUP_FREE char *sign = xasprintf("%s %s %s\n", boot.items[0], revision, pod);
    return place_put(root, READY_FILE_OF_NVIDIA, "", e) == 0
               ? place_put(root, READY_FILE_OF_DRIVER, sign, e)
               : -1;
}

/* Creates the device nodes and links that other containers need. */
static int show_devices(const struct root *root, device_make_fn *make, struct err *e)
{
    static const struct mig_places mig = { "dev", LINKS, DRIVER_DEVICES };
    if (devices_make(root, "dev", make, e) < 0 || mig_devices_show(root, &mig, make, e) < 0)
        return -1;
    return devices_link(root, "dev", LINKS, DRIVER_DEVICES, e);
}

int driver_probe(const struct root *root, const struct driver_probe *p, struct err *e)
{
    int64_t end_ms = clock_now_ms() + p->limit_ms;
    for (;;) {
        bool is_up = check_up(root, p->pod, e) == 0;
        int64_t smi_ms = end_ms - clock_now_ms();
        if (is_up &&
            program_run_quietly("nvidia-smi", smi_ms > SMI_MIN_MS ? smi_ms : SMI_MIN_MS, e) == 0 &&
            show_devices(root, p->make, e) == 0 && leave_sign(root, p->revision, p->pod, e) == 0)
            return 0;
        int64_t left_ms = end_ms - clock_now_ms(), pause_ms = is_up ? SMI_PAUSE_MS : LOOK_MS;
        if (left_ms <= 0)
            return -1;
        poll(NULL, 0, (int) (left_ms < pause_ms ? left_ms : pause_ms));
        err_clear(e);
    }
}

int driver_stop(const struct root *root, const char *pod, struct err *e)
{
    struct ready_words sign;
    bool is_ours = ready_file_read(root, READY_FILE_OF_DRIVER, &sign) && str_eq(sign.items[2], pod);
    if (!is_ours)
        return 0;
    return place_remove(root, READY_FILE_OF_DRIVER, e) == 0
               ? place_remove(root, READY_FILE_OF_NVIDIA, e)
               : -1;
}

/* ---- GDRCopy */

int gdrcopy_start(const struct root *root, const char *pod, char *const program[], struct err *e)
{
    const struct ready_target driver = { .sign = READY_DRIVER,
                                         .source = READY_OF_CONTAINER,
                                         .pod = pod };
    if (wait_for(root, &driver, 0, e) < 0 || driver_files_put(root, e) < 0)
        return -1;
    return program_become(program, e);
}

int gdrcopy_probe(const struct root *root, device_make_fn *make, struct err *e)
{
    const char *missing = ready_module_missing(root, READY_MODULE_GDRDRV);
    if (missing)
        return err_set(e, ERR_NOT_FOUND, "%s", missing);
    return devices_make(root, &DRIVER_DEVICES[1], make, e) == 0
               ? devices_link(root, &DRIVER_DEVICES[1], LINKS, DRIVER_DEVICES, e)
               : -1;
}
