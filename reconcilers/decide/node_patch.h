/* A change of a Node as one JSON patch, which the API server refuses if anything that the change
 * depends on differs from what Ostler read.
 *
 * The guard is a list of tests in the patch, not a resourceVersion. While a node joins, its kubelet
 * and several controllers write to it at the same time. These writes do not concern Ostler's
 * fields, but each changes the resourceVersion, so a patch that names it would fail again and
 * again. The tests cover:
 *
 * - the uid, and that the node is not being deleted;
 * - changed or not: the assignment, the annotations for Ostler's keys, claim and given-up target,
 *   and the labels by which users control the node;
 * - each changed label and each autoscaler annotation: the value read, or that it was absent;
 * - the whole list of taints if it changes, because it is written as a whole and no other taint may
 *   get lost; and if a claim is added, because another taint may be what closes the node.
 *
 * The API server tests and changes the object in one step. So another client's write between
 * Ostler's read and patch either fails a test, or concerns other fields. The latter is equivalent
 * to a write just after the patch. No guard prevents that; its event causes another pass. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_PATCH_H
#define OSTLER_RECONCILERS_DECIDE_NODE_PATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/node.h"

/* The changes; NULL: no change of that kind. All borrowed. */
struct node_change {
    const json_t *labels;      /* key to value; null removes it */
    const json_t *annotations; /* the same; keys with Ostler's prefix or of model/autoscaler.h */
    const json_t *taints;      /* the whole new list */
    bool rests_on_taints;      /* valid only with the taints that were read, even if unchanged */
};

/* The guarded JSON patch; NULL: nothing changes. New reference. */
json_t *node_patch(const struct node_view *view, const struct node_change *change);

#endif
