/* What followers are made from. One has no record: its image stands on its DaemonSet, and the one that was last known good, so
 * that what the policy leaves open can be held. No more than that, since the annotations of an object have a limit that the
 * rest of the inputs can pass. */
#ifndef OSTLER_RECONCILERS_DECIDE_FOLLOWERS_H
#define OSTLER_RECONCILERS_DECIDE_FOLLOWERS_H

#include "reconcilers/decide/cluster_view.h"

/* The inputs of a follower under a valid policy. New reference. */
json_t *followers_inputs(const struct cluster_view *v, const struct operand_row *follower);
/* The annotations of its DaemonSet that keep its image and the one that is known good. New reference. */
json_t *followers_annotations(const struct cluster_view *v, const struct operand_row *follower, const json_t *inputs);

#endif
