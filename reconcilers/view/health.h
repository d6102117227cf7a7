/* The health of GPUs in the plugin's output: what Ostler does about each node's fault. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_HEALTH_H
#define OSTLER_RECONCILERS_VIEW_HEALTH_H

#include "reconcilers/view/snapshot.h"

/* Nodes by the level of their worst fault, the worst first; NULL: no fault is known. New
 * reference. */
json_t *health_levels(const json_t *reports);
/* The same nodes by what becomes of them: a list of {does, text, nodes, bad}, as in "2 closed".
 * NULL: no fault is known. New reference. */
json_t *health_sums(const json_t *reports);
/* The storm brake of the policy while it is on: {reason, message, seconds, todo}. NULL: it is off.
 * New reference. */
json_t *health_brake(const json_t *policy, int64_t now_us);
/* Whether a node in state Unhealthy stays so until a person repairs it: Ostler may not, or has no
 * attempt left. `status` is that of its GpuNode. */
bool health_needs_person(const json_t *status, const json_t *policy);
/* What Ostler does about a fault, if it is more than to report it: "Closed"; NULL otherwise.
 * `health` is status.health. Borrowed. */
const char *health_handled(const json_t *health);
/* Why Ostler ignores the repair that a user asks for, as the GpuNode says it; NULL: it does not, or
 * has not seen the request. Borrowed. */
const char *health_repair_ignored(const json_t *report);
/* Whether a text can be the reason of a fault, so that a command to copy may have it. NULL is
 * none. */
bool health_is_reason(const char *text);

#endif
