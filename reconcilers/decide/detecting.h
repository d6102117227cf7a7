/* Decides whether it is too early to report that no node has a GPU, because new agents have not
 * scanned yet. */
#ifndef OSTLER_RECONCILERS_DECIDE_DETECTING_H
#define OSTLER_RECONCILERS_DECIDE_DETECTING_H

#include "reconcilers/decide/cluster_view.h"

/* Seconds until Ostler stops waiting for their reports; 0: it does not wait. Always 0 if any node
 * is served already. */
int64_t detecting_wait_s(const struct cluster_view *v);
/* The agents' DaemonSet; NULL: Ostler has created none. */
const struct child *detecting_agents(const struct cluster_view *v);

#endif
