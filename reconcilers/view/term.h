/* Text output: sanitised text from a cluster, ages, columns, colours. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_TERM_H
#define OSTLER_RECONCILERS_VIEW_TERM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The output settings. */
struct paint {
    bool colours;
    bool wide;  /* -o wide: more columns */
    bool whole; /* cut nothing: wide output, or no terminal */
    int width;  /* the terminal's columns */
};

enum colour { PLAIN, BOLD, DIM, GREEN, YELLOW, RED };

/* Most columns of a table. */
enum { GRID_COLUMNS_MAX = 20 };

/* Rows of cells, printed in aligned columns; the first row is the header. Zero-initialised =
 * empty. */
struct grid {
    struct grid_row *rows;
    size_t len;
    size_t columns;
    bool headless; /* the first row is no header */
};

/* Sanitised text (base/terminal.h) on one line of at most `width` characters, with "…" if cut.
 * Owned by the caller. */
char *term_cut(const char *s, size_t width);
/* Appends sanitised text, in a colour if enabled. */
void paint_add(struct buf *out, const struct paint *p, enum colour colour, const char *clean);
/* A duration in at most two units: "5s", "3m20s", "4h12m", "12d". Owned by the caller. */
char *term_span(int64_t seconds);
/* The age of an API timestamp; "-" if invalid. Owned by the caller. */
char *term_ago(const char *time, int64_t now_us);
/* Seconds from an API timestamp to now; below 0: invalid. A future timestamp gives 0. */
int64_t term_seconds_since(const char *time, int64_t now_us);
/* Appends indented text of several lines, none longer than the terminal and at most `lines` (0:
 * no limit, for text that users must read completely). */
void term_wrap(struct buf *out, const struct paint *p, int indent, size_t lines, const char *s);

/* Appends a row of sanitised copies; NULL is "". `colour` applies to the second cell, the state. */
void grid_row(struct grid *g, enum colour colour, const char *const *cells, size_t count);
/* Prints the grid, cut at the terminal's width unless wide. */
void grid_print(const struct grid *g, const struct paint *p, struct buf *out);
/* Frees its rows. */
void grid_clear(struct grid *g);

/* Appends the lines of a text that fit on the screen, and the number of lines left out. `rows`
 * 0: all. Colours take no room. */
void term_fit(struct buf *out, const char *text, size_t columns, size_t rows);

/* A value as JSON or YAML with a line end. It never contains a raw control character of a
 * string. Owned by the caller. */
char *term_of_json(const json_t *value, bool yaml);

#endif
