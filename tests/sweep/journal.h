/* What happened in a run from its beginning to its end: how often each thing happened to whom, in
 * which order nodes were claimed, and how much was out of service at a time. Kept from commit to
 * commit, on the server's own state. */
#ifndef OSTLER_TESTS_SWEEP_JOURNAL_H
#define OSTLER_TESTS_SWEEP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/api/api.h"

/* id, name: what happens to nodes, to pods that use GPUs or are asked to leave ("namespace/name"),
 * and by Ostler to a kind of objects ("nodes") */
#define JOURNAL_EDITS(X)                                                                           \
    X(CLAIMED, "claimed")        /* a node: it had no claim */                                     \
    X(DRAINED, "drained")        /* a node: its pods are asked to leave */                         \
    X(UNLOADED, "unloaded")      /* a node: its driver was taken off */                            \
    X(FAILED, "failed")          /* a node: its claim comes to be Failed */                        \
    X(ROLLED_BACK, "rolledBack") /* a node: its claim comes to be one of kind Rollback */          \
    X(RELEASED, "released")      /* a node: its claim is gone */                                   \
    X(EVICTED, "evicted")        /* a pod that had not ended: by Ostler, through its budgets */    \
    X(DELETED, "deleted")        /* a pod that had not ended: by Ostler, past its budgets */       \
    X(LOST, "lost")              /* a pod that had not ended: by any client, in whatever way */    \
    X(RESTARTED, "restarted")    /* a pod: a container of it was started again */                  \
    X(WRITTEN, "written")        /* a kind of objects: by Ostler */

enum journal_edit {
#define X(id, ...) JOURNAL_##id,
    JOURNAL_EDITS(X)
#undef X
        JOURNAL_EDIT_COUNT
};

/* id, name: what there is at one time */
#define JOURNAL_FIGURES(X)                                                                         \
    X(CLOSED, "closed")     /* nodes that bear the taint of an upgrade */                          \
    X(CHANGING, "changing") /* nodes whose claim holds a place of maxParallel */                   \
    X(OUT, "out")           /* nodes that are closed, not Ready, or cordoned */                    \
    X(GPUS, "gpus")         /* GPUs of nodes that are closed */                                    \
    X(ZONES, "zones")       /* zones with nodes that are being changed */

enum journal_figure {
#define X(id, ...) JOURNAL_##id,
    JOURNAL_FIGURES(X)
#undef X
        JOURNAL_FIGURE_COUNT
};

struct journal;

struct journal *journal_new(void);
void journal_free(struct journal *j);
/* Takes note of one commit; to be called with each. */
void journal_commit(struct journal *j, const struct api_commit *c);

/* The place of a name in its table; -1: there is none such. */
int journal_edit_named(const char *name);
int journal_figure_named(const char *name);

/* How often it happened to those whose name fits the pattern; whether an object of such a name was
 * ever there is left in `ret_known`. */
size_t journal_times(const struct journal *j, enum journal_edit edit, const char *pattern,
                     bool *ret_known);
/* The most that there was at a time. */
size_t journal_most(const struct journal *j, enum journal_figure figure);
/* Nodes in the order in which they were claimed, again where they were claimed again. */
size_t journal_claim_count(const struct journal *j);
const char *journal_claim(const struct journal *j, size_t i);

#endif
