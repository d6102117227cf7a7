#include "node/look/host_driver.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/look/text.h"

#define LIBRARY "libnvidia-ml.so"
#define LOCK "run/nvidia/nvidia-driver.pid"

enum { LINK_MAX = 256, VERSION_MAX = 63, PID_MAX = 1 << 22 };

/* Where packages, NVIDIA's installer, Google's, Bottlerocket and Talos put it. */
static const char *const programs[] = {
    "/usr/bin/nvidia-smi",
    "/usr/sbin/nvidia-smi",
    "/bin/nvidia-smi",
    "/sbin/nvidia-smi",
    "/opt/bin/nvidia-smi",
    "/usr/local/bin/nvidia-smi",
    "/home/kubernetes/bin/nvidia/bin/nvidia-smi",
    "/usr/libexec/nvidia/tesla/bin/nvidia-smi",
};

static const char *const libraries[] = {
    "/usr/lib/x86_64-linux-gnu/" LIBRARY ".1",
    "/usr/lib/aarch64-linux-gnu/" LIBRARY ".1",
    "/usr/lib64/" LIBRARY ".1",
    "/usr/lib/" LIBRARY ".1",
    "/home/kubernetes/bin/nvidia/lib64/" LIBRARY ".1",
    "/usr/lib/nvidia/tesla/" LIBRARY ".1",
    "/usr/local/glibc/usr/lib/" LIBRARY ".1",
};

/* The first of these files that is there, or NULL. False when one before it could not be looked at. */
static bool find_first(const struct view *v, const char *const *paths, size_t count, const char **ret)
{
    enum sight sight = ABSENT;
    *ret = NULL;
    for (size_t i = 0; i < count && sight == ABSENT; i++) {
        sight = view_is(v, paths[i] + 1, S_IFREG);
        if (sight == SEEN)
            *ret = paths[i];
    }
    return sight != UNREADABLE;
}

bool host_driver_find_library(const struct view *v, const char **ret)
{
    return find_first(v, libraries, ARRAY_LEN(libraries), ret);
}

const char *host_driver_version(const char *library)
{
    const char *name = strrchr(library, '/');
    name = name ? name + 1 : library;
    if (!str_has_prefix(name, LIBRARY "."))
        return NULL;
    name += strlen(LIBRARY ".");
    /* "1" alone is the name under which programs look for it. */
    return strchr(name, '.') && strspn(name, "0123456789.") == strlen(name) ? name : NULL;
}

static const char *version_of(const struct view *v, const char *library)
{
    char target[LINK_MAX];
    if (!library || root_link(v->root, library + 1, target, sizeof target) != 0)
        return NULL;
    const char *version = host_driver_version(target);
    return version ? part_shown(v->arena, (struct part){ version, strlen(version) }, VERSION_MAX) : NULL;
}

/* The lock stays where its container was killed, so it counts only while the process that it names is there. */
static void look_at_lock(const struct view *v, struct host_driver *ret)
{
    const char *text;
    int64_t pid;
    char process[32];
    enum sight lock = view_text(v, LOCK, sizeof process, &text);
    ret->container_known = lock == SEEN || (lock == ABSENT && view_is(v, "run", S_IFDIR) == SEEN);
    if (lock != SEEN || !text || !str_parse_int(text, 1, PID_MAX, &pid))
        return;
    snprintf(process, sizeof process, "proc/%d", (int) pid);
    ret->container = view_is(v, process, S_IFDIR) == SEEN;
}

void host_driver_look(const struct view *v, const struct module_facts *m, struct host_driver *ret)
{
    *ret = (struct host_driver){ 0 };
    bool saw_programs = find_first(v, programs, ARRAY_LEN(programs), &ret->smi);
    bool saw_libraries = host_driver_find_library(v, &ret->library);
    ret->version = version_of(v, ret->library);
    look_at_lock(v, ret);
    ret->installed = ret->smi || (ret->library && m->loaded && !ret->container);
    ret->known = saw_programs && saw_libraries && (m->known || !ret->library) && view_is(v, "usr", S_IFDIR) == SEEN;
}
