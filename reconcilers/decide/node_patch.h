/* A change of a Node's marks as one request, which the API server refuses when anything that the change rests on is not as it
 * was read.
 *
 * The guard is a list of tests in a JSON patch, not a resourceVersion. A node that joins is written by its kubelet and by several
 * controllers in the same moments; none of that concerns marks, but each write moves the resourceVersion, so that a patch that
 * names it is refused time and again. The tests hold:
 *
 *   - the uid, and that the node is not being deleted;
 *   - the annotations that say what is ours, what the node is claimed for and what a person gave up on, the assignment, and the
 *     labels by which people say what may be done with the node, changed or not;
 *   - each label that is changed, and each annotation for autoscalers, with the value that was read, or that it was not there;
 *   - the whole list of taints, where it is changed: it is written whole, and nobody's taint may get lost; and with a claim that
 *     comes, since a taint of others may be what closes the node.
 *
 * The server tests and changes the object in one step. So a write of others that comes between our reading and our patch either
 * meets a test, and the patch is refused; or it is about other fields, and then the node is as if it had come just after ours: no
 * guard keeps that from happening, and its event makes us look again. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_PATCH_H
#define OSTLER_RECONCILERS_DECIDE_NODE_PATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/node.h"

/* What changes; NULL: nothing of the kind. All borrowed. */
struct node_change {
    const json_t *labels;      /* key to value; null takes it off */
    const json_t *annotations; /* the same; under our own prefix, or of model/autoscaler.h */
    const json_t *taints;      /* the whole list as it is to be */
    bool rests_on_taints;      /* it is right only with the taints that were read, though it leaves them as they are */
};

/* The guarded JSON patch; NULL when nothing changes. New reference. */
json_t *node_patch(const struct node_view *view, const struct node_change *change);

#endif
