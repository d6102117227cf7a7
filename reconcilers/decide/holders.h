/* What follows for a node from who has its GPUs open (model/node_holders.h). */
#ifndef OSTLER_RECONCILERS_DECIDE_HOLDERS_H
#define OSTLER_RECONCILERS_DECIDE_HOLDERS_H

#include "base/arena.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/pod.h"

/* For so long after its stack began to leave a node's driver waits for the word of the agent there that nobody has a GPU open. */
enum { HOLDERS_BEHIND_S = 60 };

/* Whether a pod uses a GPU that it did not ask for. Operands of ours leave with the stack, and one-off pods by themselves. */
bool holders_unasked(const struct node_holders *h, const struct pod *p);
/* Whether a pod is named that is not among those of the node that are known: one of which nothing was kept, as it asked for no
 * GPU, or that is gone, so that the agent has not looked since. */
bool holders_name_strangers(const struct node_holders *h, const struct pod *pods);
/* "process nv-hostengine (812, unit dcgm.service)". From the arena. */
const char *holders_host_text(const struct host_holder *h, struct arena *a);
/* "1 process that no eviction ends and that has a GPU open: …", the first few by name. From the arena. */
const char *holders_hosts_text(const struct host_holder *hosts, size_t count, struct arena *a);

#endif
