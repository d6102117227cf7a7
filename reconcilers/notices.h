/* Events about nodes: the steps and states that users want to know. An upgraded node has at most
 * four, plus three for each failed attempt. Other steps are in the log, and what the node waits for
 * is in its GpuNode. */
#ifndef OSTLER_RECONCILERS_NOTICES_H
#define OSTLER_RECONCILERS_NOTICES_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/images.h"

/* Adds Events for a pass over the node: for its writes, and for its state if the verdict
 * changed. */
void notice_node(const struct node_slot *slot, const struct node_verdict *v,
                 struct actions *actions);
/* Adds an Event for the plan's last action, a write of the node. */
void notice_write(const struct node_slot *slot, struct actions *actions);
/* Adds an Event if the node cannot pull an image: once, until it can. `known`: the state was known
 * before. */
void notice_images(struct node_slot *slot, const struct images *images, bool known,
                   struct actions *actions);
/* Adds an Event that the rollout skips the node; `why`: the user's action. */
void notice_skipped(const struct node_slot *slot, const char *why, struct actions *actions);
/* Adds an Event if a pass finds that pods fail on the node at once. Call it before the slot's
 * memory of that takes the step. */
void notice_black_hole(const struct node_slot *slot, enum black_hole_step step, int64_t now_s,
                       struct actions *actions);

#endif
