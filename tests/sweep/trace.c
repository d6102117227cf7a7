#include "tests/sweep/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

/* Lines that are shown before the first other write, and from it on. */
enum { LINES_BEFORE = 8, LINES_AFTER = 16 };

/* The next line that is a write, at or after `i`. */
static size_t next_write(const struct run_result *r, size_t i)
{
    while (i < r->line_count && r->lines[i].fault)
        i++;
    return i;
}

/* Names of Events end with a time. */
static bool same_write(const struct run_line *a, const struct run_line *b)
{
    const char *dot = strstr(a->text, "/events/") ? strrchr(a->text, '.') : NULL;
    return dot ? strncmp(a->text, b->text, (size_t) (dot - a->text)) == 0
               : str_eq(a->text, b->text);
}

static void tell_line(const struct run_line *l, size_t number, const char *mark, struct buf *out)
{
    buf_printf(out, "  %s %6" PRId64 ".%03d s  ", mark, l->at_ms / 1000, (int) (l->at_ms % 1000));
    if (l->fault)
        buf_printf(out, "fault: %s\n", l->text);
    else
        buf_printf(out, "write %zu: %s\n", number, l->text);
}

/* Lines of `r` around place `at`; `number` is how many writes there are up to it. */
static void tell_around(const struct run_result *r, size_t at, size_t number, struct buf *out)
{
    size_t first = at > LINES_BEFORE ? at - LINES_BEFORE : 0,
           last = at + LINES_AFTER < r->line_count ? at + LINES_AFTER : r->line_count;
    for (size_t i = first; i < at; i++)
        number -= !r->lines[i].fault;
    for (size_t i = first; i < last; i++)
        tell_line(&r->lines[i], r->lines[i].fault ? number : number++, i == at ? ">" : " ", out);
}

void trace_tell(const struct run_result *reference, const struct run_result *got, struct buf *out)
{
    size_t a = next_write(reference, 0), b = next_write(got, 0), number = 1;
    while (a < reference->line_count && b < got->line_count &&
           same_write(&reference->lines[a], &got->lines[b])) {
        a = next_write(reference, a + 1);
        b = next_write(got, b + 1);
        number++;
    }
    if (a == reference->line_count && b == got->line_count) {
        buf_str(out, "all writes are those of the run without faults\n");
        return;
    }
    buf_printf(out, "first other write: number %zu%s\n", number,
               b == got->line_count ? ", which is not there" : "");
    if (a < reference->line_count)
        buf_printf(out, "    without faults  write %zu: %s\n", number, reference->lines[a].text);
    tell_around(got, b, number, out);
}
