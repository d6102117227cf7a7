/* The labels that say what a node's GPUs are: what they are made from, and whose they are. What the agent on the node sees and
 * what the proof of it saw are put together; where GPU feature discovery runs, it has the word. */
#ifndef OSTLER_RECONCILERS_DECIDE_FEATURES_H
#define OSTLER_RECONCILERS_DECIDE_FEATURES_H

#include "reconcilers/model/proof.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/node_plan.h"

/* What becomes of them. `looked`: the node is up, so that its kubelet offers what it has. */
enum marks_features features_rule(const struct node_input *in, bool looked);
/* The labels, of a node that runs this stack and of which a proof saw these facts. New reference. */
json_t *features_labels(const struct node_input *in, const char *stack, const struct proof_facts *facts);

#endif
