/* Splits texts of the kernel or an admin into lines, words and numbers. Such texts may have any
 * bytes and any length; inventories take only printable ASCII of bounded length. */
#ifndef OSTLER_NODE_INVENTORY_TEXT_H
#define OSTLER_NODE_INVENTORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

/* A part of a borrowed text. */
struct part {
    const char *at;
    size_t len;
};

#define PART(literal) ((struct part){ literal, sizeof(literal) - 1 })

/* The whole of a text or a buffer. Borrowed. */
struct part part_of(const char *text);
struct part part_of_buf(const struct buf *b);
/* Cuts off the text before the next `mark`, or the rest; false if nothing is left. */
bool part_next(struct part *text, char mark, struct part *ret);
/* The next word between spaces and tabs; false if there is none. */
bool part_word(struct part *text, struct part *ret);
/* Without spaces, tabs and line ends at both ends. */
struct part part_trimmed(struct part p);
bool part_is(struct part p, const char *text);
bool part_same(struct part a, struct part b);
bool part_begins(struct part p, const char *prefix);
/* Cuts off a prefix; false if the text does not begin with it. */
bool part_skip(struct part *p, const char *prefix);
/* The first occurrence of a text, or NULL. */
const char *part_find(struct part p, const char *text);
/* The rest of `p` from a position in it. */
struct part part_from(struct part p, const char *at);
/* Parses a whole number without a sign, at most `max`. */
bool part_number(struct part p, int64_t max, int64_t *ret);
/* Whether it consists of exactly `len` lower case hexadecimal digits. */
bool part_is_hex(struct part p, size_t len);
/* Splits "NAME=VALUE". */
bool part_assignment(struct part line, struct part *name, struct part *value);
/* A value with or without quotes: skips leading characters of `skip`, and ends at white space, a
 * quote or a backslash. */
struct part part_bare(struct part text, const char *skip);
/* A copy for output: trimmed, at most `max` bytes, with "?" for anything but printable ASCII. NULL
 * if nothing is left. */
const char *part_shown(struct arena *a, struct part p, size_t max);

#endif
