/* Reads the runtime handlers and their programs from a configuration of containerd or CRI-O: tables
 * [….runtimes.NAME] with `runtime_path`, and [….runtimes.NAME.options] with `BinaryName`. The
 * parser works line by line, which fits the files that all known programs write; it ignores inline
 * tables and dotted keys. The text may contain any bytes. */
#ifndef OSTLER_NODE_INVENTORY_HANDLERS_H
#define OSTLER_NODE_INVENTORY_HANDLERS_H

#include <stdbool.h>
#include <stddef.h>

#include "node/inventory/text.h"

enum { HANDLERS_MAX = 32, IMPORTS_MAX = 8 };

/* Parts of the text, without quotes. */
struct handler {
    struct part name;
    struct part program; /* empty: not given */
};

struct handlers {
    struct handler items[HANDLERS_MAX]; /* in file order; surplus ones are left out */
    size_t len;
    struct part standard;             /* name of the default runtime; empty: not given */
    struct part imports[IMPORTS_MAX]; /* other files that it imports, as written */
    size_t imports_len;
};

/* One parsed line. */
struct handlers_line {
    struct part runtime; /* the runtime whose table contains the line; empty: none */
    struct part name;    /* the key; empty: the line sets nothing */
    struct part value;   /* a string is without its quotes */
    bool top;            /* the line is before the first table */
};

/* Iterates over the lines of a text. Zero-initialize, then set `rest` to the text. */
struct handlers_lines {
    struct part rest, runtime;
    bool in_table;
};

/* The next line; false at the end. *whole (may be NULL) receives the raw line without its end. */
bool handlers_next(struct handlers_lines *lines, struct handlers_line *ret, struct part *whole);
/* Whether the line sets the default runtime. */
bool handlers_names_default(const struct handlers_line *line);
void handlers_read(struct part text, struct handlers *ret);

#endif
