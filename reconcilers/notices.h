/* Events about nodes: which steps and states are news to people. A node that is upgraded has at most four, and three more for
 * each attempt that fails; the steps between are in the log, and what they wait for in its GpuNode. */
#ifndef OSTLER_RECONCILERS_NOTICES_H
#define OSTLER_RECONCILERS_NOTICES_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/images.h"

/* What a pass over the node came to: its writes, and where the verdict is another than before, its state. */
void notice_node(const struct node_slot *slot, const struct node_verdict *v, struct actions *actions);
/* The plan's last action, a write of the node. */
void notice_write(const struct node_slot *slot, struct actions *actions);
/* What a look at the node's images came to: that it cannot get one is told once, until it can. `known`: it was looked before. */
void notice_images(struct node_slot *slot, const struct images *images, bool known, struct actions *actions);
/* The rollout passes the node over; `why`: because of what a person has done. */
void notice_skipped(const struct node_slot *slot, const char *why, struct actions *actions);

#endif
