/* `kubectl gpu explain NODE`: the history of a node, what it waits for, what happens next and
 * when. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_EXPLAIN_H
#define OSTLER_RECONCILERS_VIEW_EXPLAIN_H

#include "reconcilers/view/snapshot.h"

/* The result as JSON. `snapshot` is about one node: "nodes" and "reports" are its Node and its
 * GpuNode (either may be absent), "pods" are those on it. New reference. */
json_t *explain_view(const json_t *snapshot, const char *name, int64_t now_us);
/* The same as text. */
void explain_print(const json_t *explained, const struct paint *p, struct buf *out);

/* ---- parts */

/* The history: a list of {time, what, text, warning}, in order of time. New reference. */
json_t *explain_story(const json_t *snapshot, const char *name);
/* The next steps: a list of {text, at}; `at` is absent if unknown. `ostler` is the result of
 * snapshot_ostler(). New reference. */
json_t *explain_next(const json_t *snapshot, const json_t *ostler, int64_t now_us);
/* Adds what a user can do about a fault of the node's GPUs, and how to undo what a user did. */
void explain_health(const json_t *snapshot, json_t *next);

#endif
