#include "tests/sweep/regressions.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { LINE_MAX_LEN = 256, FILE_MAX = 1 << 20, WHAT_MAX = 120 };

static bool parse(const char *line, const char *sweep, size_t *ret_case)
{
    char name[64];
    return sscanf(line, "%63s %zu", name, ret_case) == 2 && strcmp(name, sweep) == 0;
}

size_t regressions_read(const char *sweep, size_t all, size_t **cases)
{
    FILE *file = fopen(REGRESSIONS, "r");
    char line[LINE_MAX_LEN];
    size_t n = 0, index;
    while (file && fgets(line, sizeof line, file)) {
        if (!parse(line, sweep, &index) || index >= all)
            continue;
        *cases = xreallocarray(*cases, n + 1, sizeof **cases);
        (*cases)[n++] = index;
    }
    if (file)
        fclose(file);
    return n;
}

/* The first line that says something: the line before only names the case, and ends with a colon.
 */
static void add_what(const char *findings, struct buf *text)
{
    size_t n = strcspn(findings, "\n");
    if (n && findings[n - 1] == ':' && findings[n]) {
        findings += n + 1;
        n = strcspn(findings, "\n");
    }
    buf_printf(text, "%.*s\n", (int) (n < WHAT_MAX ? n : WHAT_MAX), findings);
}

/* The file as it is; false when the case is in it, or there is no such file. */
static bool read_without(const char *sweep, size_t index, struct buf *text)
{
    FILE *file = fopen(REGRESSIONS, "r");
    if (!file)
        return false;
    char line[LINE_MAX_LEN];
    bool there = false;
    size_t known;
    while (fgets(line, sizeof line, file)) {
        there = there || (parse(line, sweep, &known) && known == index);
        buf_str(text, line);
    }
    fclose(file);
    return !there;
}

bool regressions_add(const char *sweep, size_t index, const char *findings)
{
    struct buf text = BUF_INIT(FILE_MAX);
    bool added = read_without(sweep, index, &text);
    if (added) {
        buf_printf(&text, "%s %zu  ", sweep, index);
        add_what(findings, &text);
        /* A new file, since trees of copies may share the old one. */
        FILE *file = fopen(REGRESSIONS ".new", "w");
        added = file && fputs(buf_text(&text), file) >= 0;
        added = file && fclose(file) == 0 && added && rename(REGRESSIONS ".new", REGRESSIONS) == 0;
    }
    buf_clear(&text);
    return added;
}
