/* The GPU feature labels of a node: their sources and their owner. They combine the agent's report
 * and the facts of the GPU validation. If GPU feature discovery runs, it owns the labels. */
#ifndef OSTLER_RECONCILERS_DECIDE_FEATURES_H
#define OSTLER_RECONCILERS_DECIDE_FEATURES_H

#include "reconcilers/model/proof.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/node_types.h"

/* What happens to the labels. `looked`: the node is up, so its kubelet's GPU count is valid. */
enum marks_features features_rule(const struct node_input *in, bool looked);
/* The labels of a node that runs this stack, with these facts of its validation. New reference. */
json_t *features_labels(const struct node_input *in, const char *stack,
                        const struct proof_facts *facts);

#endif
