#include "reconcilers/view/term.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/terminal.h"
#include "base/yaml.h"

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

/* ---- characters */

/* Number of characters in UTF-8 text. */
static size_t term_length(const char *s)
{
    size_t length = 0;
    for (; *s; s++)
        length += ((unsigned char) *s & 0xc0) != 0x80;
    return length;
}

/* Bytes of the first `count` characters of a sanitised text. */
static size_t bytes_of(const char *clean, size_t count)
{
    size_t at = 0;
    while (clean[at] && count > 0) {
        at++;
        while (((unsigned char) clean[at] & 0xc0) == 0x80)
            at++;
        count--;
    }
    return at;
}

char *term_cut(const char *s, size_t width)
{
    char *clean = terminal_clean(s);
    if (term_length(clean) <= width || width == 0)
        return clean;
    char *cut = xasprintf("%.*s…", (int) bytes_of(clean, width - 1), clean);
    free(clean);
    return cut;
}

void paint_add(struct buf *out, const struct paint *p, enum colour colour, const char *clean)
{
    static const char *const codes[] = {
        [PLAIN] = "",         [BOLD] = "\033[1m",    [DIM] = "\033[2m",
        [GREEN] = "\033[32m", [YELLOW] = "\033[33m", [RED] = "\033[31m"
    };
    bool on = p->colours && colour != PLAIN;
    if (on)
        buf_str(out, codes[colour]);
    buf_str(out, clean);
    if (on)
        buf_str(out, "\033[0m");
}

/* ---- times */

static char *two_units(int64_t seconds, int64_t unit, const char *name, int64_t below,
                       const char *below_name)
{
    int64_t rest = seconds % unit / below;
    if (rest == 0)
        return xasprintf("%lld%s", (long long) (seconds / unit), name);
    return xasprintf("%lld%s%lld%s", (long long) (seconds / unit), name, (long long) rest,
                     below_name);
}

char *term_span(int64_t seconds)
{
    if (seconds < 2 * MINUTE)
        return xasprintf("%llds", (long long) (seconds < 0 ? 0 : seconds));
    if (seconds < HOUR)
        return two_units(seconds, MINUTE, "m", 1, "s");
    if (seconds < DAY)
        return two_units(seconds, HOUR, "h", MINUTE, "m");
    return seconds < 8 * DAY ? two_units(seconds, DAY, "d", HOUR, "h")
                             : xasprintf("%lldd", (long long) (seconds / DAY));
}

int64_t term_seconds_since(const char *time, int64_t now_us)
{
    int64_t at = time ? clock_parse_rfc3339(time) : -1;
    if (at < 0)
        return -1;
    return at > now_us ? 0 : (now_us - at) / 1000000;
}

char *term_ago(const char *time, int64_t now_us)
{
    int64_t seconds = term_seconds_since(time, now_us);
    return seconds < 0 ? xstrdup("-") : term_span(seconds);
}

/* ---- lines */

/* Bytes of a sanitised text for a line of `width` characters, up to a blank if there is one. */
static size_t line_bytes(const char *clean, size_t width)
{
    size_t max = bytes_of(clean, width), at = max;
    if (!clean[max])
        return max;
    while (at > 0 && clean[at] != ' ')
        at--;
    return at > max / 2 ? at : max;
}

void term_wrap(struct buf *out, const struct paint *p, int indent, size_t lines, const char *s)
{
    CLEANUP_FREE char *clean = terminal_clean(s);
    size_t width = p->whole ? SIZE_MAX : p->width > indent + 20 ? (size_t) (p->width - indent) : 20;
    const char *at = clean;
    for (size_t line = 1; *at; line++) {
        size_t n = line_bytes(at, width);
        if (line == lines && at[n]) {
            CLEANUP_FREE char *cut = term_cut(at, width);
            buf_printf(out, "%*s%s\n", indent, "", cut);
            return;
        }
        buf_printf(out, "%*s%.*s\n", indent, "", (int) n, at);
        at += n;
        at += strspn(at, " ");
    }
}

/* ---- tables */

struct grid_row {
    char *cells[GRID_COLUMNS_MAX];
    enum colour colour;
};

void grid_row(struct grid *g, enum colour colour, const char *const *cells, size_t count)
{
    g->rows = xreallocarray(g->rows, g->len + 1, sizeof *g->rows);
    struct grid_row *row = &g->rows[g->len++];
    *row = (struct grid_row){ .colour = colour };
    for (size_t i = 0; i < count && i < GRID_COLUMNS_MAX; i++)
        row->cells[i] = terminal_clean(cells[i]);
    if (count > g->columns)
        g->columns = count < GRID_COLUMNS_MAX ? count : GRID_COLUMNS_MAX;
}

static void widths_of(const struct grid *g, size_t widths[GRID_COLUMNS_MAX])
{
    for (size_t c = 0; c < g->columns; c++) {
        widths[c] = 0;
        for (size_t r = 0; r < g->len; r++) {
            size_t length = term_length(str_or_empty(g->rows[r].cells[c]));
            widths[c] = length > widths[c] ? length : widths[c];
        }
    }
}

static void print_row(const struct grid *g, const struct grid_row *row, const size_t *widths,
                      const struct paint *p, struct buf *out)
{
    size_t left = p->whole ? SIZE_MAX : (size_t) p->width;
    for (size_t c = 0; c < g->columns && left > 0; c++) {
        bool last = c + 1 == g->columns;
        CLEANUP_FREE char *cell = term_cut(str_or_empty(row->cells[c]), left);
        size_t length = term_length(cell), room = widths[c] + 3;
        paint_add(out, p,
                  row == g->rows && !g->headless ? BOLD
                  : c == 1                       ? row->colour
                                                 : PLAIN,
                  cell);
        if (!last && room < left)
            buf_printf(out, "%*s", (int) (room - length), "");
        left = room < left ? left - room : 0;
    }
    buf_str(out, "\n");
}

void grid_print(const struct grid *g, const struct paint *p, struct buf *out)
{
    size_t widths[GRID_COLUMNS_MAX];
    widths_of(g, widths);
    for (size_t r = 0; r < g->len; r++)
        print_row(g, &g->rows[r], widths, p, out);
}

void grid_clear(struct grid *g)
{
    for (size_t r = 0; r < g->len; r++)
        for (size_t c = 0; c < GRID_COLUMNS_MAX; c++)
            free(g->rows[r].cells[c]);
    free(g->rows);
    *g = (struct grid){ 0 };
}

/* ---- screens */

/* Rows of a line that ends at `end`. */
static size_t rows_of(const char *line, const char *end, size_t columns)
{
    size_t length = 0;
    for (const char *c = line; c < end; c++) {
        if (*c == '\033')
            c += strcspn(c, "m");
        else
            length += ((unsigned char) *c & 0xc0) != 0x80;
    }
    return columns > 0 && length > columns ? (length + columns - 1) / columns : 1;
}

/* Where the part that fits on the screen ends. */
static const char *fitting(const char *text, size_t columns, size_t rows)
{
    size_t used = 0;
    while (*text) {
        const char *end = strchrnul(text, '\n');
        used += rows_of(text, end, columns);
        if (used > rows)
            return text;
        text = *end ? end + 1 : end;
    }
    return text;
}

void term_fit(struct buf *out, const char *text, size_t columns, size_t rows)
{
    const char *end = rows ? fitting(text, columns, rows) : text + strlen(text);
    size_t more = 0;
    if (*end)
        end = fitting(text, columns, rows - 1);
    bool room = buf_add(out, text, (size_t) (end - text));
    for (const char *c = end; (c = strchr(c, '\n')); c++)
        more++;
    if (room && more)
        buf_printf(out, "… %zu more\n", more);
}

/* ---- JSON and YAML */

char *term_of_json(const json_t *value, bool yaml)
{
    if (yaml)
        return yaml_dump(value);
    CLEANUP_FREE char *json = terminal_json(value, false);
    return xasprintf("%s\n", json);
}
