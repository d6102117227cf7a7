/* What a node waits for, as listed in its report: objects, and how each concerns the node. */
#ifndef OSTLER_RECONCILERS_DECIDE_WAITING_FOR_H
#define OSTLER_RECONCILERS_DECIDE_WAITING_FOR_H

#include "reconcilers/decide/gpu_node_input.h"

/* At most GPU_NODE_WAITING_MAX entries {kind, namespace, name, reason, message}; entries that need
 * a user's action come first. New reference. */
json_t *waiting_for(const struct gpu_node_input *in, struct arena *a);
/* Whether the node is in service and waits for its turn to run something else. */
bool waiting_for_turn(const struct gpu_node_input *in);
/* Whether it waits for its turn to be repaired. */
bool waiting_for_repair(const struct gpu_node_input *in);
/* Whether it waits because its kubelet cannot pull an image. */
bool waiting_without_image(const struct gpu_node_input *in);
/* The kubelet's reason for a pod that does not come up on a node under way; NULL: none. From the
 * arena. */
const char *waiting_trouble(const struct node_summary *s, struct arena *a);
/* The target that it waits for: another driver, or only another stack. NULL: there is none. */
const struct revision_tally *waiting_turn_target(const struct node_summary *s);
/* The sentence for that: since when, what blocks it and what happens next. From the arena. */
const char *waiting_turn_sentence(const struct gpu_node_input *in, struct arena *a);
/* What blocks that, and what happens then; also of a claimed node that the rollout holds back. From
 * the arena or static. */
const char *waiting_turn_text(const struct gpu_node_input *in, struct arena *a);
/* Whether a hold keeps a claimed node back even if there is a place for it: a user or a rule of the
 * policy closed the rollout, or the node. */
bool waiting_is_closed(enum rollout_hold hold);
/* Whether a tainted node without jobs waits for more than a place: the rollout is paused, not
 * approved or outside its windows, its revision has failed, or other nodes must show first that it
 * works. */
bool waiting_closed(const struct gpu_node_input *in);
/* The sentence for that. From the arena. */
const char *waiting_closed_sentence(const struct gpu_node_input *in, struct arena *a);
/* The rollout's reason to report for a node. Reasons that change while other nodes have their turn
 * become one, so that waiting nodes are not rewritten all the time. */
enum rollout_hold waiting_turn(enum rollout_hold hold);

#endif
