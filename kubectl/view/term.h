/* Text for people: what came from a cluster made harmless for a terminal, ages, columns, colours. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_TERM_H
#define OSTLER_KUBECTL_VIEW_TERM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How it is shown. */
struct paint {
    bool colours;
    bool wide;  /* -o wide: more columns */
    bool whole; /* nothing is cut: it is wide, or no terminal */
    int width; /* columns of the terminal */
};

enum colour { PLAIN, BOLD, DIM, GREEN, YELLOW, RED };

/* Most columns of a table. */
enum { GRID_COLUMNS_MAX = 16 };

/* Rows of cells, the first of them the head, printed with columns as wide as they have to be. Zero-initialised = empty. */
struct grid {
    struct grid_row *rows;
    size_t len;
    size_t columns;
    bool headless; /* the first row is one like the others */
};

/* A text made clean (base/terminal.h), on one line of at most `width` characters, with "…" where it was cut. Owned by
 * the caller. */
char *term_cut(const char *s, size_t width);
/* Appends a text that is clean already, in a colour where there are any. */
void paint_add(struct buf *out, const struct paint *p, enum colour colour, const char *clean);
/* "5s", "3m20s", "4h12m", "12d": how long, in at most two units. Owned by the caller. */
char *term_span(int64_t seconds);
/* How long ago a time of the API was; "-" where it is none. Owned by the caller. */
char *term_ago(const char *time, int64_t now_us);
/* The seconds between a time of the API and now; below 0: it is none. A time that is ahead is now. */
int64_t term_seconds_since(const char *time, int64_t now_us);
/* Appends a text of several lines, each with this many spaces in front; no line longer than the terminal, none more than
 * `lines`. What a person has to read to its end: lines 0. */
void term_wrap(struct buf *out, const struct paint *p, int indent, size_t lines, const char *s);

/* Appends a row; cells are made clean and copied, NULL is "". `colour` is that of the second cell, where states stand. */
void grid_row(struct grid *g, enum colour colour, const char *const *cells, size_t count);
/* Prints it. Rows are cut at the terminal's width unless it is wide. */
void grid_print(const struct grid *g, const struct paint *p, struct buf *out);
/* Frees its rows. */
void grid_clear(struct grid *g);

/* Appends as many lines of a text as a screen of so many rows and columns has room for, and how many there are more. `rows` 0:
 * all. Colours take no room. */
void term_fit(struct buf *out, const char *text, size_t columns, size_t rows);

/* A value as JSON or YAML, with an end of line. No control character of a string comes out as itself. Owned by the caller. */
char *term_of_json(const json_t *value, bool yaml);

#endif
