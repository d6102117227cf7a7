#include "node/operand/hung.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { PROCESSES_MAX = 65536, PATH_LEN = 64, STAT_BYTES = 128, WORD_LEN = 64, PID_MAX = 1 << 22 };

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

int hung_find(const struct root *root, const char *name)
{
    CLEANUP_FOLDER struct folder processes = { 0 };
    const char *entry;
    int64_t pid;
    int why = folder_open(&processes, root, "proc", PROCESSES_MAX);
    while (why == 0 && (entry = folder_next(&processes, &why)))
        if (str_parse_int(entry, 1, PID_MAX, &pid) && hangs(root, (int) pid, name))
            return (int) pid;
    return 0;
}
