/* Which operands a node should have by its assignment, and which of them are up. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_OPERANDS_H
#define OSTLER_RECONCILERS_DECIDE_NODE_OPERANDS_H

#include "reconcilers/decide/node_types.h"

/* Sets the result of the verdict. `message` is static or from the arena and may be NULL. */
void verdict_settle(struct node_verdict *v, enum node_state state, enum reason reason,
                    const char *message);
/* The same with a formatted message. */
void verdict_set(const struct node_pass *p, enum node_state state, enum reason reason,
                 const char *fmt, ...) PRINTF(4, 5);
/* The inputs of a revision, from its record or from a target; NULL: not known, or `hash` is "".
 * Borrowed. */
const json_t *operands_inputs(const struct node_input *in, enum tier tier, const char *hash);
/* Whether the node may be assigned these: each new revision has a record that is not about to be
 * deleted. */
bool operands_recorded(const struct node_input *in, struct assignment_ref wanted);
/* Fills `wanted` and `up` from the revisions that the verdict carries. */
void operands_list(const struct node_input *in, struct node_verdict *v);
/* Whether none of the wanted operands affects the node's GPUs: no driver, toolkit or device
 * plugin. */
bool operands_only_watch(const struct node_verdict *v);
/* Whether the kubelet offers GPUs, or Ostler's device plugin is not to offer any. */
bool operands_offer_gpus(const struct node_input *in, const struct node_verdict *v);
/* Whether any of a set of operands (bits) has a pod on the node, in any state. */
bool operands_present(const struct node_pods *p, unsigned set);
/* The operands that come and go with a stack, as bits: its own, and the followers. */
unsigned operands_with_stack(void);
/* The wanted operands of tiers that are not up, as bits. Operands without a tier only bring metrics
 * and reports, which GPUs do not need. */
unsigned operands_missing(const struct node_verdict *v);
/* Followers of the node's pool that get the GPUs from the default runtime of a node with this
 * stack, as bits. */
unsigned operands_on_default_runtime(const struct node_pass *p, struct assignment_ref assigned);
/* Decides Installing, Failed or Ready from the first missing operand in start order. */
void operands_judge(const struct node_pass *p);
/* For a Ready node: reports missing metrics if the kubelet gives a reason. The node stays Ready. */
void operands_judge_metrics(const struct node_pass *p);
/* For a Ready node without another reason: likewise for NVML. */
void operands_judge_nvml(const struct node_pass *p);
/* For a Ready node: reports a pod of another GPU stack that does the same as an operand of Ostler's
 * there, or a program that gives the node's GPUs to resource claims besides Ostler's device plugin.
 * The node stays Ready. */
void operands_judge_others(const struct node_pass *p);

#endif
