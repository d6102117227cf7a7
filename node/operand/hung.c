#include "node/operand/hung.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "node/inventory/text.h"

enum {
    PROCESSES_MAX = 65536,
    PATH_LEN = 64,
    STAT_BYTES = 128,
    WORD_LEN = 64,
    CGROUP_MAX = 32768,
    PID_MAX = 1 << 22
};

/* NAMESPACE: the own cgroup in a private cgroup namespace. ELSEWHERE: in that namespace, the cgroup
 * of a process outside this container's pod starts like this. */
#define NAMESPACE "0::/\n"
#define ELSEWHERE "0::/../.."

/* Whether the process's stat line starts like "5100 (nvidia-smi) D ". */
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

/* The part of this pod's cgroup line up to its uid, with "-" or "_"; cgroups of other pods do not
 * start like that. */
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

/* Whether a process belongs to this pod, by the cgroups of both. A process of any pod can have that
 * name and state, but it cannot choose its cgroup. */
static bool is_of_pod(struct part own, const char *pod, struct part other)
{
    struct part beginning, line;
    if (!find_pod(own, pod, &beginning))
        return part_is(own, NAMESPACE) && part_begins(other, "0::/") &&
               !part_begins(other, ELSEWHERE);
    while (part_next(&other, '\n', &line))
        if (line.len >= beginning.len && memcmp(line.at, beginning.at, beginning.len) == 0)
            return true;
    return false;
}

/* Reads the cgroup file of a process; empty if it cannot be read, as after its end. */
static struct part read_cgroup(const struct root *root, const char *process, struct buf *ret)
{
    char path[PATH_LEN];
    snprintf(path, sizeof path, "proc/%s/cgroup", process);
    if (root_read(root, path, ret) != 0)
        buf_reset(ret);
    return part_of_buf(ret);
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
    folder_open(&processes, root, "proc", PROCESSES_MAX);
    while ((entry = folder_next(&processes)))
        if (str_parse_int(entry, 1, PID_MAX, &pid) && hangs(root, (int) pid, name) &&
            is_own(root, entry, pod))
            return (int) pid;
    return 0;
}
