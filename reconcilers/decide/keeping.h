/* Keeping a node from autoscalers while it is changed: from the drain on its GPU pods are away, so that an autoscaler takes it
 * for a node that nobody needs, and removes it within a minute. The annotations that forbid that come with the claim and go with
 * it; ostler.dev/marks names those that Ostler set. One that somebody else set is theirs, whatever it says. */
#ifndef OSTLER_RECONCILERS_DECIDE_KEEPING_H
#define OSTLER_RECONCILERS_DECIDE_KEEPING_H

#include <jansson.h>

#include "reconcilers/model/claim.h"
#include "reconcilers/model/node.h"

/* Adds to `annotations` (key to value, null: comes off), which has the change of the claim already where there is one, what
 * changes of them when the node gets `claim` (NULL: none). They are set only in a write that changes the claim: one that a person
 * takes off meanwhile stays off. `ours`: the keys that were ours,
 * from ostler.dev/marks, or NULL. Returns those that are ours afterwards; new reference. */
json_t *keeping_change(const struct node_view *view, const json_t *ours, const struct claim *claim, json_t *annotations);

#endif
