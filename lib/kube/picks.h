/* Picks members of an object from its text, without a tree: for what is read of thousands of
 * objects. It reads what API servers write, JSON without spaces and without escapes in keys, and
 * gives up at anything else, and at a member that comes twice. What is not picked is skipped: of a
 * container only its brackets and strings are looked at. */
#ifndef OSTLER_KUBE_PICKS_H
#define OSTLER_KUBE_PICKS_H

#include <stdbool.h>
#include <stddef.h>

/* The text of a value, a string with its quotes. */
struct picked {
    const char *at; /* borrowed; NULL: there is none */
    size_t len;
};

/* A member to pick. A list of them ends with a row without a name. */
struct picks_row {
    const char *name;
    unsigned place;               /* of its value among those that are picked */
    const struct picks_row *rows; /* its own members, which are picked too; NULL: none are */
};

/* Picks members of an object that is the whole text; those that are absent keep their value, so
 * `ret` must begin as zeros. False: given up. */
bool picks_read(const char *text, size_t len, const struct picks_row *rows, struct picked *ret);
/* Takes the next value of an array from the front of its text; false: none is left, or given up. */
bool picks_next(struct picked *list, struct picked *ret);
/* Copies a string's text, if it has no escapes and only printable ASCII; false: it has, it is no
 * string, or it does not fit. */
bool picks_text(const struct picked *value, char *to, size_t size);
/* Whether it is this string. */
bool picks_is(const struct picked *value, const char *string);

#endif
