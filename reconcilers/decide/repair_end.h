/* The end of an attempt to repair a node's GPUs, for those who count repairs. A pass sees it in the
 * write that ends the attempt, so each counts once, also when Ostler is started again. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_END_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_END_H

#include "reconcilers/decide/upgrade_phases.h"

/* What the pass ends on the node. A reset on the way of an upgrade ends when it is made; an attempt
 * of a repair when the fault is over, or the repair fails. An attempt that is taken back, because
 * it never began or a user called it off before, does not end; one that failed before that does. */
struct repair_end repair_end_of(const struct node_input *in, const struct upgrade *up);
/* "succeeded" */
const char *repair_result_name(enum repair_result result);

#endif
