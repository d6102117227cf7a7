/* Texts of a kernel or an administrator, taken apart: lines, words, numbers. They may be of any bytes and of any length; what
 * goes into an inventory is printable ASCII of a bounded length. */
#ifndef OSTLER_NODE_INVENTORY_TEXT_H
#define OSTLER_NODE_INVENTORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A part of a text that somebody else owns. */
struct part {
    const char *at;
    size_t len;
};

#define PART(literal) ((struct part){ literal, sizeof(literal) - 1 })

/* Cuts off what stands before the next `mark`, or all that is left; false when nothing is left. */
bool part_next(struct part *text, char mark, struct part *ret);
/* The next word between spaces and tabs; false when there is none. */
bool part_word(struct part *text, struct part *ret);
/* Without spaces, tabs and ends of lines at both ends. */
struct part part_trimmed(struct part p);
bool part_is(struct part p, const char *text);
bool part_begins(struct part p, const char *prefix);
/* Where a text is in it, or NULL. */
const char *part_find(struct part p, const char *text);
/* A whole number without a sign and nothing else, at most `max`. */
bool part_number(struct part p, int64_t max, int64_t *ret);
/* Whether it is `len` lower case hexadecimal digits. */
bool part_is_hex(struct part p, size_t len);
/* "NAME=VALUE" in two. */
bool part_assignment(struct part line, struct part *name, struct part *value);
/* A value with quotes around it or none: without the characters of `skip` that stand before it, up to white space, a quote or a
 * backslash. */
struct part part_bare(struct part text, const char *skip);
/* A copy for people and objects: trimmed, at most `max` bytes, what is no printable ASCII as "?". NULL when nothing is left. */
const char *part_shown(struct arena *a, struct part p, size_t max);

#endif
