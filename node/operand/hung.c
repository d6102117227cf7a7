#include "node/operand/hung.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "node/inventory/text.h"

enum { PROCESSES_MAX = 65536, PATH_LEN = 64, STAT_BYTES = 128, WORD_LEN = 64, CGROUP_MAX = 32768, PID_MAX = 1 << 22 };

/* What a process has in its file of cgroups where its container has a namespace of its own for them, and where one goes that is
 * neither of this container nor of one beside it in the same pod. */
#define NAMESPACE "0::/\n"
#define ELSEWHERE "0::/../.."

/* As its line in procfs begins: "5100 (nvidia-smi) D ". */
static bool hangs(const struct root *root, int pid, const char *name)
{
    char path[PATH_LEN], line[STAT_BYTES], want[WORD_LEN];
    size_t len;
    snprintf(path, sizeof path, "proc/%d/stat", pid);
    if (root_peek(root, path, line, sizeof line - 1, &len) != 0)
        return false;
    line[len] = '\0';
    snprintf(want, sizeof want, "%d (%s) D ", pid, name);
    return str_has_prefix(line, want);
}

/* The line of a pod's own process up to the pod's uid, with "-" or "_" in it: no cgroup of anybody else begins like that. */
static bool find_pod(struct part own, const char *pod, struct part *ret)
{
    CLEANUP_FREE char *slice = xstrdup(pod);
    for (char *c = slice; *c; c++)
        *c = *c == '-' ? '_' : *c;
    while (part_next(&own, '\n', ret)) {
        const char *uid = part_find(*ret, pod);
        if (!uid)
            uid = part_find(*ret, slice);
        if (uid) {
            ret->len = (size_t) (uid - ret->at) + strlen(pod);
            return true;
        }
    }
    return false;
}

/* Whether a process is of this pod, by the cgroups of both. Anybody may call a process anything and have it wait like that; its
 * cgroup is given to it. */
static bool is_of_pod(struct part own, const char *pod, struct part other)
{
    struct part beginning, line;
    if (!find_pod(own, pod, &beginning))
        return part_is(own, NAMESPACE) && part_begins(other, "0::/") && !part_begins(other, ELSEWHERE);
    while (part_next(&other, '\n', &line))
        if (line.len >= beginning.len && memcmp(line.at, beginning.at, beginning.len) == 0)
            return true;
    return false;
}

/* Reads what a process has in its file of cgroups; empty where it cannot be read, as of one that has ended. */
static struct part read_cgroup(const struct root *root, const char *process, struct buf *ret)
{
    char path[PATH_LEN];
    snprintf(path, sizeof path, "proc/%s/cgroup", process);
    if (root_read(root, path, ret) != 0)
        buf_reset(ret);
    return (struct part){ buf_text(ret), ret->len };
}

static bool is_own(const struct root *root, const char *process, const char *pod)
{
    CLEANUP_BUF struct buf own = BUF_INIT(CGROUP_MAX), other = BUF_INIT(CGROUP_MAX);
    return is_of_pod(read_cgroup(root, "self", &own), pod, read_cgroup(root, process, &other));
}

int hung_find(const struct root *root, const char *name, const char *pod)
{
    CLEANUP_FOLDER struct folder processes = { 0 };
    const char *entry;
    int64_t pid;
    int why = folder_open(&processes, root, "proc", PROCESSES_MAX);
    while (why == 0 && (entry = folder_next(&processes, &why)))
        if (str_parse_int(entry, 1, PID_MAX, &pid) && hangs(root, (int) pid, name) && is_own(root, entry, pod))
            return (int) pid;
    return 0;
}
