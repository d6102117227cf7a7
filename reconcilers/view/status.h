/* `kubectl gpu status`: the fleet at a glance. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_STATUS_H
#define OSTLER_RECONCILERS_VIEW_STATUS_H

#include "reconcilers/view/snapshot.h"

/* The result as JSON: docs/kubectl-gpu.1 lists the members. `snapshot` has policy (or none),
 * reports, lease. New reference. */
json_t *status_view(const json_t *snapshot, int64_t now_us);
/* The same as text, in under 25 lines. */
void status_print(const json_t *status, const struct paint *p, struct buf *out);

#endif
