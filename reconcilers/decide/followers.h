/* The inputs of followers. A follower has no record. Its DaemonSet has annotations with its image
 * and its last known good image, so that a version that the policy leaves open can stay. The other
 * inputs are not kept there, because they can exceed the size limit of annotations. */
#ifndef OSTLER_RECONCILERS_DECIDE_FOLLOWERS_H
#define OSTLER_RECONCILERS_DECIDE_FOLLOWERS_H

#include "reconcilers/decide/cluster_view.h"

/* The inputs of a follower under a valid policy. New reference. */
json_t *followers_inputs(const struct cluster_view *v, const struct operand_row *follower);
/* The annotations of its DaemonSet with its image and its known good image. New reference. */
json_t *followers_annotations(const struct cluster_view *v, const struct operand_row *follower,
                              const json_t *inputs);

#endif
