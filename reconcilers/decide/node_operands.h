/* Which operands a node should have by what it is assigned, and how far they are. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_OPERANDS_H
#define OSTLER_RECONCILERS_DECIDE_NODE_OPERANDS_H

#include "reconcilers/decide/node_plan.h"

/* What the verdict comes to. `message` is static or from the arena; it may be NULL. */
void verdict_settle(struct node_verdict *v, enum node_state state, enum reason reason,
                    const char *message);
/* The inputs of a revision: its record's, else those of the target that it is; NULL when nobody knows, or for "". Borrowed. */
const json_t *operands_inputs(const struct node_input *in, enum tier tier, const char *hash);
/* Whether the node may be given these: each that it does not bear yet has a record, which is not on
 * its way out with others that no node carries. */
bool operands_recorded(const struct node_input *in, struct assignment_ref wanted);
/* Fills `wanted` and `up` from the revisions that the verdict carries. */
void operands_list(const struct node_input *in, struct node_verdict *v);
/* Whether none of them has a part in the node's GPUs: there is no driver, toolkit or device plugin among them. */
bool operands_only_watch(const struct node_verdict *v);
/* Whether any of a set of operands (bits) has a pod on the node, in whatever state. */
bool operands_present(const struct node_pods *p, unsigned set);
/* The operands that come and go with a stack, as bits: its own, and the followers. */
unsigned operands_with_stack(void);
/* The operands of tiers that should be up and are not, as bits. One without a tier brings metrics: the GPUs work without it. */
unsigned operands_missing(const struct node_verdict *v);
/* Installing, Failed or Ready: the first operand in start order that is missing says which. */
void operands_judge(const struct node_input *in, struct arena *a, struct node_verdict *v);
/* Of a node that is Ready: that its metrics are missing, where the kubelet says why. It stays Ready. */
void operands_judge_metrics(const struct node_input *in, struct arena *a, struct node_verdict *v);
/* Of a node that is Ready: that somebody else gives its GPUs to resource claims, beside Ostler's device plugin. It stays
 * Ready. */
void operands_judge_claims(const struct node_input *in, struct arena *a, struct node_verdict *v);

#endif
