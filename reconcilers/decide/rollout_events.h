/* What people should hear of a rollout: Events about the policy, each with the write that makes it true for good. So it is told
 * once, and an Ostler that is started in between neither repeats nor forgets it. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_EVENTS_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_EVENTS_H

#include "kube/actions.h"
#include "reconcilers/decide/cluster_view.h"

/* The plan's last action gives the record of a revision these annotations; `record` as it is, NULL: there is none. Adds what that
 * is news of. */
void rollout_events(const struct cluster_view *v, const char *tier, const char *hash, const struct child *record,
                    const json_t *annotations, struct actions *actions);

#endif
