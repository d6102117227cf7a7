/* What users see of the health of a node's GPUs: `status.health` of its GpuNode, and Events when
 * that changes. */
#ifndef OSTLER_RECONCILERS_DECIDE_HEALTH_REPORT_H
#define OSTLER_RECONCILERS_DECIDE_HEALTH_REPORT_H

#include "base/arena.h"
#include "kube/actions.h"
#include "reconcilers/decide/health.h"
#include "reconcilers/decide/health_state.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/node.h"

/* The verdict as the status shows it; NULL: nothing is known to be wrong. The time stays while the
 * rest is what the status has. From the arena. */
const struct health_status *health_report(const struct health_input *in,
                                          const struct health_handling *handling, struct arena *a);
/* The worst fault, for the rollout; `before`: what it was at the last pass. Its word is from the
 * arena. */
struct health_fault health_fault_of(const struct health_input *in,
                                    const struct health_fault *before, struct arena *a);
/* Whether a status is, but for the message of its health, what the report has: the message counts
 * faults, and need not be rewritten each time. */
bool health_report_only_recounts(const struct gpu_node *report, const json_t *status);
/* An Event about the health of a Node's GPUs, for the Node or its GpuNode. Borrows its
 * arguments. */
struct notice health_report_event(enum resource_id resource, const char *name, const char *uid,
                                  bool warning, const char *note);
/* Whether an Event tells of `after` when it replaces `before`: another fault that is no milder.
 * NULL: none. */
bool health_report_is_news(const struct health_status *before, const struct health_status *after);
/* Adds Events for the plan's last action, which writes `after` (NULL: none) in place of what the
 * report has: a Warning for another fault that is no milder, a Normal one when no fault is left. */
void health_report_notice(const struct node *node, const struct gpu_node *report,
                          const struct health_status *after, struct actions *actions);

#endif
