/* What processes and pods that hold a GPU open mean for a node (model/node_holders.h). */
#ifndef OSTLER_RECONCILERS_DECIDE_HOLDERS_H
#define OSTLER_RECONCILERS_DECIDE_HOLDERS_H

#include "base/arena.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/pod.h"

/* After the stack starts to leave, the driver's removal waits this long for the agent's report that
 * no GPU is open. */
enum { HOLDERS_BEHIND_S = 60 };

/* Whether a pod uses a GPU that it did not request. Ostler's operands leave with the stack, and its
 * one-off pods end by themselves, so they do not count. */
bool holders_unasked(const struct node_holders *h, const struct pod *p);
/* Whether the report names a pod that is not among the node's cached pods. Such a pod was not
 * cached because it requested no GPU, or it is gone and the agent has not scanned since. */
bool holders_name_strangers(const struct node_holders *h, const struct pod *pods);
/* "process nv-hostengine (812, unit dcgm.service)". From the arena. */
const char *holders_host_text(const struct host_holder *h, struct arena *a);
/* "1 process that no eviction ends and that has a GPU open: …", with the first few names. From the
 * arena. */
const char *holders_hosts_text(const struct host_holder *hosts, size_t count, struct arena *a);

#endif
