/* `kubectl gpu status`: the fleet at a glance. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_STATUS_H
#define OSTLER_KUBECTL_VIEW_STATUS_H

#include "kubectl/view/snapshot.h"

/* What is shown, for programs: docs/kubectl-gpu.1 has the members. `seen` has policy (or none), reports, lease. New reference. */
json_t *status_view(const json_t *snapshot, int64_t now_us);
/* The same for people, in under 25 lines. */
void status_print(const json_t *status, const struct paint *p, struct buf *out);

#endif
