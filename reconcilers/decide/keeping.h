/* Keeps autoscalers from removing a node while Ostler changes it. From the drain on, its GPU pods
 * are away, so an autoscaler would treat it as unused and remove it within a minute. Ostler sets
 * and removes the annotations together with the claim; ostler.dev/marks names those that Ostler
 * set. Ostler never changes an annotation that another client set. */
#ifndef OSTLER_RECONCILERS_DECIDE_KEEPING_H
#define OSTLER_RECONCILERS_DECIDE_KEEPING_H

#include <jansson.h>

#include "reconcilers/model/claim.h"
#include "reconcilers/model/node.h"

/* Adds the change of these annotations, when the node gets `claim` (NULL: none), to `annotations`
 * (key to value, null: remove), which has any change of the claim already. Annotations are set only
 * in a write that changes the claim, so one that a user removes in between stays removed. `ours`:
 * the keys that were Ostler's, from ostler.dev/marks, or NULL. Returns the keys that are Ostler's
 * afterwards; new reference. */
json_t *keeping_change(const struct node_view *view, const json_t *ours, const struct claim *claim,
                       json_t *annotations);

#endif
