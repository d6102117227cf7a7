/* Whether it is too early to say that no node has a GPU: agents that were sent out a moment ago have not looked yet. */
#ifndef OSTLER_RECONCILERS_DECIDE_DETECTING_H
#define OSTLER_RECONCILERS_DECIDE_DETECTING_H

#include "reconcilers/decide/cluster_view.h"

/* For so many seconds it is still waited for what they say; 0: it is not. Where any node is served already it never is. */
int64_t detecting_wait_s(const struct cluster_view *v);
/* The agents' DaemonSet; NULL: there is none of ours. */
const struct child *detecting_agents(const struct cluster_view *v);

#endif
