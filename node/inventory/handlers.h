/* The runtimes that a configuration of containerd or CRI-O names, each with the program that it is: tables [….runtimes.NAME] with
 * `runtime_path`, [….runtimes.NAME.options] with `BinaryName`. Line by line, as all programs write them: what is in an inline
 * table, or in a key with dots, is not seen. The text may be of any bytes. */
#ifndef OSTLER_NODE_INVENTORY_HANDLERS_H
#define OSTLER_NODE_INVENTORY_HANDLERS_H

#include <stdbool.h>
#include <stddef.h>

#include "node/inventory/text.h"

enum { HANDLERS_MAX = 32, IMPORTS_MAX = 8 };

/* Parts of the text, without quotes. */
struct handler {
    struct part name;
    struct part program; /* empty: the configuration does not say */
};

struct handlers {
    struct handler items[HANDLERS_MAX]; /* as they come; those that are too many are left out */
    size_t len;
    struct part standard;              /* name of the default; empty: the configuration does not say */
    struct part imports[IMPORTS_MAX];  /* other files that it takes in, as it names them */
    size_t imports_len;
};

/* What a line is about. */
struct handlers_line {
    struct part runtime; /* the runtime of the table that it is in; empty: of none */
    struct part name;    /* of what it sets; empty: it sets nothing */
    struct part value;   /* without the quotes of a text */
    bool top;            /* it stands before the first table */
};

/* Going through the lines of a text. Zero-initialised but for `rest`, which is the text. */
struct handlers_lines {
    struct part rest, runtime;
    bool in_table;
};

/* The next line; false at the end. *whole (may be NULL) is all of it, without its end. */
bool handlers_next(struct handlers_lines *lines, struct handlers_line *ret, struct part *whole);
/* Whether it names the default runtime. */
bool handlers_names_default(const struct handlers_line *line);
void handlers_read(struct part text, struct handlers *ret);

#endif
