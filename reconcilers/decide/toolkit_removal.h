/* Releases a node for good, including the toolkit's changes to the container runtime's
 * configuration. Only NVIDIA's own program can undo those, because it knows what it wrote. So after
 * the stack is removed, a pod of a DaemonSet (RENDER_REMOVAL) runs that program. The label
 * ostler.dev/removal, with the hash of the stack revision, selects the node; Ostler removes the
 * label when the pod is up. Driver and GPU pods wait for this, or it waits for them, at most a few
 * minutes. Ostler reports what remains on the node's disk. */
#ifndef OSTLER_RECONCILERS_DECIDE_TOOLKIT_REMOVAL_H
#define OSTLER_RECONCILERS_DECIDE_TOOLKIT_REMOVAL_H

#include "reconcilers/decide/node_steps.h"

/* The next step of removing everything, from node_removal_step(), and, between its steps, the work
 * for the runtime. Requests a requeue for its timeout. */
struct removal_step toolkit_removal_step(const struct node_input *in, struct arena *a,
                                         struct actions *actions);

#endif
