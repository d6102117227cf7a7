/* The DaemonSet controller's parts: one set of it, one node of a set. Only for this folder. */
#ifndef OSTLER_SIM_ACTORS_DAEMONSET_H
#define OSTLER_SIM_ACTORS_DAEMONSET_H

#include "sim/actors/objects.h"

#define DAEMONSET_USER "system:serviceaccount:kube-system:daemon-set-controller"
#define LABEL_REVISION_HASH "controller-revision-hash"

/* What one node adds to a set's numbers. */
struct daemon_sum {
    int64_t desired, current, misscheduled, ready, available, updated;
    int64_t outdated; /* nodes that have a pod of an older template */
};

struct daemon_node {
    char *name;
    bool dirty;
    struct daemon_sum sum;
    int64_t backoff_ms, backoff_since_ms; /* of pods that fail there again and again */
};

/* One DaemonSet. */
struct daemon {
    struct actors *a;
    char *key, *uid;
    json_t *object;      /* as it is at this look; owned */
    json_t *spec;        /* the template's spec with the tolerations of all daemons; owned, NULL: not worked out yet */
    char hash[16];       /* of the template; "": no revision yet */
    bool claims;         /* pods may have to be adopted or let go */
    bool history;        /* revisions may have to be made, renewed or dropped */
    struct map nodes;    /* by name */
    struct daemon_node **dirty;
    size_t dirty_len, dirty_cap;
    struct daemon_sum sum;
    int64_t again_at_ms; /* when a look is due without news; -1: never */
    int64_t burst;       /* pods that this look may still make */
    bool acted;          /* this look has made or deleted pods */
    bool refused;        /* a pod was refused at this look */
};

/* ---- daemonset_history.c */
/* Sees to it that there is a ControllerRevision of the template, drops those beyond the limit, and sets d->hash. */
void daemon_sync_history(struct daemon *d);

/* ---- daemonset_node.c */
/* There is news of a node: it is looked at in the next daemon_sync_nodes(). */
void daemon_mark(struct daemon *d, const char *node);
/* Does what each node with news needs, and counts it anew. */
void daemon_sync_nodes(struct daemon *d);
/* Whether a pod is of the newest template. */
bool daemon_pod_is_updated(const struct daemon *d, const json_t *pod);
/* The set's pods of a node, finished ones that are being deleted left aside. Borrowed objects; frees with free(). */
json_t **daemon_pods_on(const struct daemon *d, const char *node, size_t *ret_len);
/* Deletes a pod, and takes note that this look has acted or was refused. */
void daemon_delete_pod(struct daemon *d, const json_t *pod);
/* The same of a pod that is made for a node. */
void daemon_create_pod(struct daemon *d, const char *node);
/* Whether a change of the node is reason for a look: a pod has to come or go, or the node is wanted anew. */
bool daemon_node_is_news(const struct daemon *d, const json_t *node);

/* ---- daemonset_rollout.c */
/* Replaces pods of older templates as far as maxUnavailable or maxSurge allow. */
void daemon_roll(struct daemon *d);
/* Whether new pods come up before old ones go (maxSurge). */
bool daemon_surges(const struct daemon *d);

#endif
