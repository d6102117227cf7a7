/* Who has a device of a node's driver open, as the agent there has seen it: pods by their uids, asked for or not, and what runs
 * on the host itself. An agent can be wrong, old or forged: what it names counts only of pods that are on its own node, and then
 * no more than a drain allows of any pod. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_HOLDERS_H
#define OSTLER_RECONCILERS_MODEL_NODE_HOLDERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Holders that are kept, as many as an agent lists; longest name of a process, a unit or a container with its NUL. */
enum { NODE_HOLDERS_MAX = 32, HOLDER_NAME_MAX = 64 };

/* Processes that no eviction ends: of one name, one unit of systemd, one container that no kubelet runs, or a static pod. */
struct host_holder {
    char process[HOLDER_NAME_MAX];   /* its name; "": not known */
    char unit[HOLDER_NAME_MAX];      /* the unit that it is of, or "" */
    char container[HOLDER_NAME_MAX]; /* the id of the container that it is in, cut, or "" */
    bool fixed;                      /* it is in a static pod, which goes by the hash of its file */
    int pid;                         /* of the first of them; 0: not known */
};

struct node_holders {
    struct host_holder *hosts; /* owned */
    size_t host_count;
    size_t pod_count;
    uint64_t pods[]; /* node_holder_id() of each */
};

/* What an inventory says of holders; NULL: that it knows of none, or does not know. Owned by the caller. */
struct node_holders *node_holders_read(const json_t *inventory);
/* NULL is none. */
void node_holders_free(struct node_holders *h);
/* Whether they are the same; NULL is nobody. */
bool node_holders_same(const struct node_holders *a, const struct node_holders *b);
/* A pod's uid, in short; 0 for "". */
uint64_t node_holder_id(const char *uid);
/* Whether a pod is one of them. */
bool node_holders_have(const struct node_holders *h, uint64_t id);
/* All of them in one number; 0 for NULL. */
uint64_t node_holders_hash(const struct node_holders *h);

#endif
