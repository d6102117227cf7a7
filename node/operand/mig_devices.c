#include "node/operand/mig_devices.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/inventory/root.h"

#define MINORS "proc/driver/nvidia-caps/mig-minors"
#define CAPABILITIES "proc/driver/nvidia/capabilities"
#define MODULE "nvidia-caps"

/* The kernel's file lists 32 GPUs with 15 GPU instances of 8 compute instances each: about 110
 * KiB. */
enum {
    MINORS_MAX = 512 * 1024,
    ACCESS_MAX = 1024,
    PATH_LEN_MAX = 64,
    GPU_MAX = 255,
    MINOR_MAX = (1 << 20) - 1,
    MODE_MAX = 0777
};

/* ---- mig-minors */

/* Letters, digits and slashes only, so that no name leads upwards. */
static bool is_path(struct part p)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789/";
    for (size_t i = 0; i < p.len; i++)
        if (!memchr(allowed, p.at[i], sizeof allowed - 1))
            return false;
    return p.len > 0 && p.len <= PATH_LEN_MAX;
}

/* Splits "gpu0/gi1/access" into the GPU and the rest. */
static bool take_path(struct part path, struct mig_minor *ret)
{
    struct part gpu_dir;
    int64_t gpu;
    ret->gpu = -1;
    ret->path = path;
    if (!is_path(path))
        return false;
    if (!part_skip(&path, "gpu"))
        return !part_find(path, "/");
    if (!part_next(&path, '/', &gpu_dir) || !part_number(gpu_dir, GPU_MAX, &gpu) || path.len == 0)
        return false;
    ret->path = path;
    ret->gpu = (int) gpu;
    return true;
}

bool mig_minors_next(struct part *text, struct mig_minor *ret)
{
    struct part line, path, number, more;
    int64_t minor;
    while (part_next(text, '\n', &line))
        if (part_word(&line, &path) && part_word(&line, &number) && !part_word(&line, &more) &&
            part_number(number, MINOR_MAX, &minor) && take_path(path, ret)) {
            ret->minor = (unsigned) minor;
            return true;
        }
    return false;
}

/* ---- nodes and links */

struct show {
    const struct root *root;
    const char *as;
    device_make_fn *make;
    unsigned major;
    int nodes, links; /* directory descriptors; links: -1 if there are none */
    int gpu;          /* the GPU that `has_gpu` is about; -1: none yet */
    bool has_gpu;
};

/* Caches the last result: the lines of one GPU are consecutive. */
static bool has_gpu(struct show *s, int gpu)
{
    char path[sizeof CAPABILITIES + 16];
    if (gpu < 0)
        return true;
    if (gpu != s->gpu) {
        snprintf(path, sizeof path, CAPABILITIES "/gpu%d", gpu);
        s->has_gpu = root_has(s->root, path);
        s->gpu = gpu;
    }
    return s->has_gpu;
}

/* Whether the instance exists and the driver allows its node; *ret is the node's mode. */
static bool read_access(const struct root *root, const struct mig_minor *m, mode_t *ret)
{
    char path[sizeof CAPABILITIES + PATH_LEN_MAX + 32], gpu_dir[16] = "";
    CLEANUP_BUF struct buf text = BUF_INIT(ACCESS_MAX);
    if (m->gpu >= 0)
        snprintf(gpu_dir, sizeof gpu_dir, "/gpu%d", m->gpu);
    snprintf(path, sizeof path, CAPABILITIES "%s/mig/%.*s", gpu_dir, (int) m->path.len, m->path.at);
    if (root_read(root, path, &text) != 0)
        return false;
    struct part all = part_of_buf(&text), line, key;
    int64_t mode = -1, modify = 1;
    while (part_next(&all, '\n', &line))
        if (part_next(&line, ':', &key)) {
            int64_t *wanted = part_is(key, "DeviceFileMode")     ? &mode
                              : part_is(key, "DeviceFileModify") ? &modify
                                                                 : NULL;
            if (wanted && !part_number(part_trimmed(line), MODE_MAX, wanted))
                return false;
        }
    *ret = (mode_t) mode;
    return mode >= 0 && modify != 0;
}

static int show_one(const struct show *s, const struct mig_minor *m, struct err *e)
{
    mode_t mode;
    CLEANUP_FREE char *name = xasprintf("nvidia-cap%u", m->minor),
                      *target = xasprintf("%s/" MODULE "/%s", s->as, name);
    const struct device device = { name, s->major, m->minor };
    int why = s->links >= 0 ? device_link(s->links, &device, target) : 0;
    if (why)
        return err_set(e, ERR_SYSTEM, "cannot create the link %u:%u to %s: %s", s->major, m->minor,
                       target, strerror(why));
    why = read_access(s->root, m, &mode) ? device_make(s->nodes, &device, mode, s->make) : 0;
    return why ? err_set(e, ERR_SYSTEM, "cannot create " MODULE "/%s: %s", name, strerror(why)) : 0;
}

static int show_all(struct show *s, struct part minors, struct err *e)
{
    struct mig_minor m;
    int rc = 0;
    while (rc == 0 && mig_minors_next(&minors, &m))
        if (has_gpu(s, m.gpu))
            rc = show_one(s, &m, e);
    return rc;
}

/* Opens the directory nvidia-caps among the devices; creates it if it is missing. */
static int open_nodes(const struct root *root, const char *devices, struct err *e)
{
    CLEANUP_FD int folder = resolve(root->fd, devices, true);
    bool made = folder >= 0 && (mkdirat(folder, MODULE, 0755) == 0 || errno == EEXIST);
    int nodes = made ? resolve(folder, MODULE, true) : -1;
    return nodes >= 0 ? nodes
                      : err_set(e, ERR_SYSTEM, "cannot create %s/" MODULE ": %s", devices,
                                strerror(errno));
}

int mig_devices_show(const struct root *root, const struct mig_places *p, device_make_fn *make,
                     struct err *e)
{
    CLEANUP_BUF struct buf minors = BUF_INIT(MINORS_MAX);
    struct show s = { .root = root, .as = p->as, .make = make, .gpu = -1 };
    int why = root_read(root, MINORS, &minors);
    if (why)
        return why == ENOENT ? 0
                             : err_set(e, ERR_SYSTEM, "cannot read " MINORS ": %s", strerror(why));
    int has_major = devices_major(root, MODULE, &s.major, e);
    if (has_major <= 0)
        return has_major;
    CLEANUP_FD int nodes = s.nodes = open_nodes(root, p->devices, e);
    if (nodes < 0)
        return -1;
    CLEANUP_FD int links = s.links = p->links ? resolve(root->fd, p->links, true) : -1;
    return p->links && links < 0
               ? err_set(e, ERR_SYSTEM, "cannot open %s: %s", p->links, strerror(errno))
               : show_all(&s, part_of_buf(&minors), e);
}
