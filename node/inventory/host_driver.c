#include "node/inventory/host_driver.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/inventory/os.h"
#include "node/inventory/text.h"

#define LIBRARY "libnvidia-ml.so"
#define OF_GOOGLE "/home/kubernetes/bin/nvidia/"
#define OF_CONTAINERS "/run/nvidia/"
#define LOCK "run/nvidia/nvidia-driver.pid"

enum { LINK_MAX = 256, VERSION_MAX = 63, PID_MAX = 1 << 22, PID_TEXT_MAX = 32 };

/* A place of one operating system is only inspected there: elsewhere the path may be on a file
 * server, which may not respond. */
struct place {
    const char *path;
    const char *os;     /* ID in os-release; NULL: any */
    const char *kernel; /* suffix of the kernel release, "-gke"; NULL: any */
};

/* The places that packages, NVIDIA's installer, Talos, Google and Bottlerocket use. */
static const struct place programs[] = {
    { "/usr/bin/nvidia-smi", NULL, NULL },
    { "/usr/sbin/nvidia-smi", NULL, NULL },
    { "/bin/nvidia-smi", NULL, NULL },
    { "/sbin/nvidia-smi", NULL, NULL },
    { "/opt/bin/nvidia-smi", NULL, NULL },
    { "/usr/local/bin/nvidia-smi", "talos", NULL },
    { OF_GOOGLE "bin/nvidia-smi", "cos", NULL },
    { OF_GOOGLE "bin/nvidia-smi", "ubuntu", "-gke" },
    { "/usr/libexec/nvidia/tesla/bin/nvidia-smi", NULL, NULL },
};

static const struct place libraries[] = {
    { "/usr/lib/x86_64-linux-gnu/" LIBRARY ".1", NULL, NULL },
    { "/usr/lib/aarch64-linux-gnu/" LIBRARY ".1", NULL, NULL },
    { "/usr/lib64/" LIBRARY ".1", NULL, NULL },
    { "/usr/lib/" LIBRARY ".1", NULL, NULL },
    { OF_GOOGLE "lib64/" LIBRARY ".1", "cos", NULL },
    { OF_GOOGLE "lib64/" LIBRARY ".1", "ubuntu", "-gke" },
    { "/usr/lib/nvidia/tesla/" LIBRARY ".1", NULL, NULL },
    { "/usr/local/glibc/usr/lib/" LIBRARY ".1", "talos", NULL },
};

/* A link into the mount of a driver container is not part of the host. */
static bool is_of_a_container(struct view *v, const char *path)
{
    char target[LINK_MAX];
    return root_link(v->root, path + 1, target, sizeof target) == 0 &&
           strstr(target, OF_CONTAINERS);
}

/* Selects the places; read once. */
struct system {
    struct os_release os;
    const char *kernel; /* as `uname -r`; NULL: not known */
};

static struct system look_at_system(struct view *v)
{
    struct system s = { .kernel = os_look_kernel(v) };
    os_look_release(v, &s.os);
    return s;
}

static bool is_of_system(const struct place *p, const struct system *s)
{
    return (!p->os || str_eq(p->os, s->os.id)) &&
           (!p->kernel || (s->kernel && str_has_suffix(s->kernel, p->kernel)));
}

/* The first of these files that exists, or NULL. False if an earlier place, or any if none exists,
 * could not be inspected. */
static bool find_first(struct view *v, const struct system *s, const struct place *places,
                       size_t count, const char **ret)
{
    bool saw_all = true;
    *ret = NULL;
    for (size_t i = 0; i < count && !*ret; i++) {
        if (!is_of_system(&places[i], s))
            continue;
        enum sight sight = view_is(v, places[i].path + 1, S_IFREG);
        saw_all = saw_all && sight != UNREADABLE;
        if (sight == SEEN && !is_of_a_container(v, places[i].path))
            *ret = places[i].path;
    }
    return saw_all;
}

bool host_driver_find_library(struct view *v, const char **ret)
{
    struct system s = look_at_system(v);
    return find_first(v, &s, libraries, ARRAY_LEN(libraries), ret);
}

const char *host_driver_version(const char *library, const char *name)
{
    const char *slash = strrchr(library, '/'), *at = slash ? slash + 1 : library;
    if (!str_has_prefix(at, name))
        return NULL;
    at += strlen(name);
    /* "1" alone is the generic name that programs load. */
    return strchr(at, '.') && strspn(at, "0123456789.") == strlen(at) ? at : NULL;
}

const char *host_driver_version_of(struct view *v, const char *link, const char *name)
{
    char target[LINK_MAX];
    if (root_link(v->root, link, target, sizeof target) != 0)
        return NULL;
    const char *version = host_driver_version(target, name);
    return version ? part_shown(&v->arena, part_of(version), VERSION_MAX) : NULL;
}

/* A killed container leaves its lock behind, so the lock only counts while its process exists. */
static void look_at_lock(struct view *v, struct host_driver *ret)
{
    const char *text;
    int64_t pid;
    enum sight lock = view_text(v, LOCK, PID_TEXT_MAX, &text);
    ret->container_known = lock == SEEN || (lock == ABSENT && view_is(v, "run", S_IFDIR) == SEEN);
    if (text && str_parse_int(text, 1, PID_MAX, &pid))
        ret->container = view_is(v, arena_printf(&v->arena, "proc/%d", (int) pid), S_IFDIR) == SEEN;
}

void host_driver_look(struct view *v, const struct module_facts *m, struct host_driver *ret)
{
    *ret = (struct host_driver){ 0 };
    struct system s = look_at_system(v);
    bool saw_programs = find_first(v, &s, programs, ARRAY_LEN(programs), &ret->smi);
    bool saw_libraries = find_first(v, &s, libraries, ARRAY_LEN(libraries), &ret->library);
    if (ret->library)
        ret->version = host_driver_version_of(v, ret->library + 1, LIBRARY ".");
    look_at_lock(v, ret);
    ret->installed = ret->smi || (ret->library && m->loaded && !ret->container);
    ret->known = saw_programs && saw_libraries && (m->known || !ret->library) &&
                 view_is(v, "usr", S_IFDIR) == SEEN;
}
