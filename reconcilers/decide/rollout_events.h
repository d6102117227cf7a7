/* Events of a rollout on the policy. Each Event is sent with the write that records its fact, so it
 * is sent once, and a restart neither repeats nor loses it. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_EVENTS_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_EVENTS_H

#include "kube/actions.h"
#include "reconcilers/decide/cluster_view.h"

/* Adds the Events for the plan's last action, which gives a revision's record these annotations.
 * `record`: the record before it; NULL: none. */
void rollout_events(const struct cluster_view *v, const char *tier, const char *hash,
                    const struct child *record, const json_t *annotations, struct actions *actions);

#endif
