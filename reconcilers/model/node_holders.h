/* The pods and host processes that hold a GPU device open, as the node's agent reports them. Pods
 * are identified by uid. An agent's report can be wrong, stale or forged. So it counts only for
 * pods on the agent's own node, and allows no more than a drain allows for any pod. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_HOLDERS_H
#define OSTLER_RECONCILERS_MODEL_NODE_HOLDERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of holders, equal to what an agent lists; longest name of a process, unit or
 * container, including the NUL. */
enum { NODE_HOLDERS_MAX = 32, HOLDER_NAME_MAX = 64 };

/* Processes that no eviction ends: those with one name, in one systemd unit, in one container
 * outside Kubernetes, or in a static pod. */
struct host_holder {
    char process[HOLDER_NAME_MAX];   /* process name; "": not known */
    char unit[HOLDER_NAME_MAX];      /* its systemd unit, or "" */
    char container[HOLDER_NAME_MAX]; /* id of its container, truncated, or "" */
    bool fixed; /* it is in a static pod, which is identified by the hash of its file */
    int pid;    /* of the first process; 0: not known */
};

struct node_holders {
    struct host_holder *hosts; /* owned */
    size_t host_count;
    size_t pod_count;
    uint64_t pods[]; /* str_hash_id() of each */
};

/* The holders in an inventory; NULL: none, or not known. Owned by the caller. */
struct node_holders *node_holders_read(const json_t *inventory);
/* NULL is allowed. */
void node_holders_free(struct node_holders *h);
/* Whether both are equal; NULL: no holders. */
bool node_holders_same(const struct node_holders *a, const struct node_holders *b);
/* Whether the pod is one of the holders. */
bool node_holders_have(const struct node_holders *h, uint64_t id);
/* One hash over all holders; 0 for NULL. */
uint64_t node_holders_hash(const struct node_holders *h);

#endif
