/* The records of tests that need a table and do not care what is in it: of an object one string is
 * kept, spec.text. */
#ifndef OSTLER_TESTS_SUPPORT_THING_H
#define OSTLER_TESTS_SUPPORT_THING_H

#include "base/buf.h"
#include "runtime/table.h"

struct thing {
    struct record head;
    char *text;             /* spec.text; an object whose text is "-" is of no interest */
    struct frame_hash hash; /* of the text that it follows from */
};

/* The table's record of that name, or NULL. */
const struct thing *thing_get(const struct table *t, const char *name);
/* The operations of a table of things. Changes go to `log` (borrowed; NULL: nowhere) as "a: x ->
 * y", with "nothing" where there is none. */
struct table_ops thing_ops(struct buf *log);
/* Where a thing keeps the hash of its text: a table's hash_of. */
struct frame_hash *thing_hash(struct record *r);
/* A table's `matters`: a text that has "text":"-" is of no interest. */
bool thing_matters(void *arg, const char *text, size_t len);

#endif
