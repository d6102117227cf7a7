/* What is compared between a run and the one without faults: all objects, without what may differ
 * (versions, times, names by chance), and how often each object that Ostler makes was created and
 * deleted. */
#ifndef OSTLER_TESTS_SWEEP_ORACLE_H
#define OSTLER_TESTS_SWEEP_ORACLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "sim/api/api.h"

struct oracle;

/* What need not be the same. */
enum looseness {
    EXACT,
    /* how often objects are created and deleted, since it may depend on when things happen */
    LOOSE,
    /* nor who owns which field, and what records tell of the past, since others wrote, or the
     * policy was another one for a while */
    LOOSEST,
    UNCOMPARED, /* all: there is nothing to compare with */
};

struct oracle *oracle_new(enum looseness loose);
void oracle_free(struct oracle *o);
/* Takes note of a commit. */
void oracle_commit(struct oracle *o, const struct api_commit *c);

/* One object, or one count. */
struct snapshot_entry {
    char *key;
    uint64_t hash;
    char *text; /* its lines, sorted; NULL where only hashes are kept */
};

/* Zero-initialised = empty. */
struct snapshot {
    struct snapshot_entry *entries; /* in order of their keys */
    size_t len;
};

/* What is there now. */
void oracle_snapshot(const struct oracle *o, const struct api *api, bool keep_text,
                     struct snapshot *ret);
void snapshot_clear(struct snapshot *s);
/* Whether both are the same; otherwise the differences are appended to `out` (may be NULL), by line
 * where texts were kept. */
bool snapshot_same(const struct snapshot *wanted, const struct snapshot *got, struct buf *out);

#endif
