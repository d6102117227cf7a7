/* The DaemonSet controller's shared parts: one DaemonSet, and one node of it. Only for this
 * directory. */
#ifndef OSTLER_SIM_ACTORS_DAEMONSET_H
#define OSTLER_SIM_ACTORS_DAEMONSET_H

#include "sim/actors/objects.h"

#define DAEMONSET_USER "system:serviceaccount:kube-system:daemon-set-controller"
#define LABEL_REVISION_HASH "controller-revision-hash"

/* What one node adds to a set's status counts. */
struct daemon_sum {
    int64_t desired, current, misscheduled, ready, available, updated;
    int64_t outdated; /* nodes with a pod of an older template */
};

struct daemon_node {
    bool dirty;
    struct daemon_sum sum;
    int64_t backoff_ms, backoff_since_ms; /* of pods that fail repeatedly there */
    char name[];
};

/* One DaemonSet. */
struct daemon {
    struct actors *a;
    char *key, *uid;
    json_t *object; /* as of this sync; owned */
    /* the template's spec with the tolerations of all daemons; owned, NULL: not computed yet */
    json_t *spec;
    char hash[16];    /* of the template; "": no revision yet */
    bool claims;      /* pods may need adoption or release */
    bool history;     /* revisions may need an update */
    struct map nodes; /* by name */
    struct daemon_node **dirty;
    size_t dirty_len, dirty_cap;
    struct daemon_sum sum;
    int64_t again_at_ms; /* due time of the next sync without a commit; -1: none */
    int64_t burst;       /* pods that this sync may still create */
    bool acted;          /* this sync has created or deleted pods */
    bool refused;        /* a pod was refused in this sync */
};

/* ---- daemonset_history.c */
/* Ensures a ControllerRevision of the template, deletes those beyond the limit, and sets
 * d->hash. */
void daemon_sync_history(struct daemon *d);

/* ---- daemonset_node.c */
/* Marks a node for the next daemon_sync_nodes(). */
void daemon_mark(struct daemon *d, const char *node);
/* Syncs each marked node and recounts it. */
void daemon_sync_nodes(struct daemon *d);
/* Whether a pod is of the newest template. */
bool daemon_pod_is_updated(const struct daemon *d, const json_t *pod);
/* The set's pods on a node, except finished ones that are being deleted. New reference. */
json_t *daemon_pods_on(const struct daemon *d, const char *node);
/* Deletes a pod, and records that this sync has acted or was refused. */
void daemon_delete_pod(struct daemon *d, const json_t *pod);
/* Creates a pod for a node, and records the same. */
void daemon_create_pod(struct daemon *d, const char *node);
/* Whether a change of the node requires a sync: a pod must be created or deleted, or the node fits
 * again. */
bool daemon_node_is_news(const struct daemon *d, const json_t *node);

/* ---- daemonset_rollout.c */
/* Replaces pods of older templates within maxUnavailable or maxSurge. */
void daemon_roll(struct daemon *d);
/* Whether new pods are created before old ones are deleted (maxSurge). */
bool daemon_surges(const struct daemon *d);

#endif
