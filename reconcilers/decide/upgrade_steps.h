/* The steps of a claimed node from one revision to another. Each pass looks at the facts (labels,
 * pods, the kubelet's GPUs) and the claim, and decides what the node has after it. A phase starts
 * in the same write as its first change, so there is no state between two steps. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_STEPS_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_STEPS_H

#include "reconcilers/decide/upgrade_phases.h"

/* One step. During an upgrade it fills state, reason, message and operands of the verdict, and
 * requests a requeue for the next deadline. */
void upgrade_step(const struct node_pass *p, const struct target *policy_target,
                  struct upgrade *ret);

#endif
