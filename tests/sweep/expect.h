/* What a case file says that must come of its scenario: rows of `expect`. Each is tried twice, as
 * it is and spoilt: one that holds either way would say nothing, and is a finding as well.
 * docs/sweeps.md has the keys. */
#ifndef OSTLER_TESTS_SWEEP_EXPECT_H
#define OSTLER_TESTS_SWEEP_EXPECT_H

#include "base/err.h"
#include "tests/sweep/journal.h"
#include "tests/sweep/run.h"

struct expectations;

/* Reads the rows (borrowed, a list). NULL with an error that names the place. */
struct expectations *expectations_new(const json_t *rows, struct err *e);
void expectations_free(struct expectations *x);
size_t expectations_count(const struct expectations *x);
/* The last time that a row names. */
int64_t expectations_until(const struct expectations *x);
/* From the beginning of a run on: each row is looked at in its time. All is borrowed until the run
 * is over. */
void expectations_begin(struct expectations *x, struct run *r, const struct journal *j);
/* All is quiet: the rows without a time. */
void expectations_end(struct expectations *x);

#endif
