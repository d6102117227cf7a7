/* `kubectl gpu explain NODE`: the history of a node, what it waits for, what happens next and when. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_EXPLAIN_H
#define OSTLER_KUBECTL_VIEW_EXPLAIN_H

#include "kubectl/view/snapshot.h"

/* What is shown, for programs. `seen` is about one node: "nodes" and "reports" are its Node and its GpuNode, either of which may
 * be absent; "pods" are those on it. New reference. */
json_t *explain_view(const json_t *snapshot, const char *name, int64_t now_us);
/* The same for people. */
void explain_print(const json_t *explained, const struct paint *p, struct buf *out);

/* ---- its parts */

/* What led to the state: a list of {time, what, text, warning}, in order of time. New reference. */
json_t *explain_story(const json_t *snapshot, const char *name);
/* What happens next: a list of {text, at}, `at` absent where nobody knows. `ostler` is as snapshot_ostler() gives it. New
 * reference. */
json_t *explain_next(const json_t *snapshot, const json_t *ostler, int64_t now_us);

#endif
