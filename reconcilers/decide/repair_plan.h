/* The repairs of GPUs that `ostler plan` lists, beside the rollout: which node, why, what Ostler
 * does first, and when. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_PLAN_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_PLAN_H

#include "reconcilers/decide/rollout_types.h"

/* A node of a rollout. All borrowed. */
struct planned_repair {
    const struct rollout_node *node;
    const struct health_spec *spec;
    const char *fault;      /* "Xid95 of GPU 0000:65:00.0"; NULL: none is known */
    enum repair_kind first; /* what Ostler tries first; REPAIR_KINDS: nothing */
    enum repair_refusal refusal;
    enum rollout_hold hold; /* why it does not begin now, by the rollout's decision */
    bool tainted_first;     /* it begins with a wait for jobs */
};

/* When a repair starts that is held back for this, which has no plan, no window and no canary:
 * "when the node is Ready"; NULL: when there is a place in the rollout. Static. */
const char *repair_hold_text(enum rollout_hold hold);
/* {node, why, does, when}; NULL: the node is not to be repaired. New reference. */
json_t *repair_plan_json(const struct planned_repair *r, struct arena *a);

#endif
