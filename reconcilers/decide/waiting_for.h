/* What a node waits for, as its report names it: objects, and what each has to do with the node. */
#ifndef OSTLER_RECONCILERS_DECIDE_WAITING_FOR_H
#define OSTLER_RECONCILERS_DECIDE_WAITING_FOR_H

#include "reconcilers/decide/gpu_node.h"

/* At most GPU_NODE_WAITING_MAX entries {kind, namespace, name, reason, message}, those that a person has to do something about
 * first. New reference. */
json_t *waiting_for(const struct gpu_node_input *in, struct arena *a);
/* Whether the node is in service and is to run something else, so that it waits for its turn. */
bool waiting_for_turn(const struct gpu_node_input *in);
/* Whether that is for an image that its kubelet cannot pull. */
bool waiting_without_image(const struct gpu_node_input *in);
/* The kubelet's word for a pod that does not come up on a node that is on its way; NULL: there is none. From the arena. */
const char *waiting_trouble(const struct node_summary *s, struct arena *a);
/* What that is: another driver, or another stack alone. NULL where nothing is meant for the node. */
const struct revision_tally *waiting_turn_target(const struct node_summary *s);
/* The sentence to that: since when, what is in the way and what happens next. From the arena. */
const char *waiting_turn_sentence(const struct gpu_node_input *in, struct arena *a);
/* Whether a closed node whose jobs are over waits for more than a place: the rollout is paused, not approved, or outside of its
 * windows, its revision has failed, or others have to show first that it works. */
bool waiting_closed(const struct gpu_node_input *in);
/* The sentence to that. From the arena. */
const char *waiting_closed_sentence(const struct gpu_node_input *in, struct arena *a);
/* Which of the reasons that the rollout gives is told of a node. Those that come and go while others have their turn are one, so
 * that a fleet that waits is not written about all the time. */
enum rollout_hold waiting_turn(enum rollout_hold hold);

#endif
