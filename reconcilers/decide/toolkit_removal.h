/* Letting go of a node for good, its toolkit included: what that has written into the configuration of the container runtime is
 * taken out of it again, which only NVIDIA's own program can do, as it knows what it wrote. So once the stack is off a pod of a
 * DaemonSet (RENDER_REMOVAL) runs that program there: the label ostler.dev/removal calls it, with the hash of the stack
 * revision, and comes off when the pod is up. Driver and GPU pods wait for it, or it for them, no longer than a few minutes: what
 * it could not do stays on the node's disk, and is said. */
#ifndef OSTLER_RECONCILERS_DECIDE_TOOLKIT_REMOVAL_H
#define OSTLER_RECONCILERS_DECIDE_TOOLKIT_REMOVAL_H

#include "reconcilers/decide/node_steps.h"

/* The next step of taking everything off, as node_take_off() says, and between its steps what has to be done for the runtime.
 * Asks to be called again when that has had its time. */
struct off toolkit_take_off(const struct node_input *in, struct arena *a, struct actions *actions);

#endif
