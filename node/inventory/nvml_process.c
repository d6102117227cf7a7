#include "node/inventory/nvml_process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STAT_MAX = 4096, UPTIME_MAX = 256, FIELD_STATE = 3, FIELD_START = 22 };

int64_t nvml_process_age_s(struct part stat, struct part uptime, int64_t ticks)
{
    struct part word = { 0 }, whole;
    int64_t start, now_s;
    const char *end = NULL;
    /* The name, in parentheses, may contain any character. */
    for (size_t i = 0; i < stat.len; i++)
        if (stat.at[i] == ')')
            end = stat.at + i + 1;
    if (!end || ticks <= 0)
        return -1;
    struct part rest = part_from(stat, end);
    for (int field = FIELD_STATE; field <= FIELD_START; field++)
        if (!part_word(&rest, &word))
            return -1;
    if (!part_number(word, INT64_MAX, &start) || !part_next(&uptime, '.', &whole) ||
        !part_number(whole, INT64_MAX, &now_s))
        return -1;
    /* Both count from the boot; the texts are read one after the other. */
    return now_s > start / ticks ? now_s - start / ticks : 0;
}

bool nvml_process_is(struct view *v, int pid, struct part name)
{
    CLEANUP_BUF struct buf stat = BUF_INIT(STAT_MAX), uptime = BUF_INIT(UPTIME_MAX);
    char path[64];
    snprintf(path, sizeof path, "proc/%d/stat", pid);
    if (!part_is(part_trimmed(name), NVML_PROCESS) || root_read(v->root, path, &stat) != 0 ||
        root_read(v->root, "proc/uptime", &uptime) != 0)
        return false;
    int64_t age_s = nvml_process_age_s(part_of_buf(&stat), part_of_buf(&uptime),
                                       sysconf(_SC_CLK_TCK));
    return age_s >= 0 && age_s <= NVML_PROCESS_MAX_S;
}
