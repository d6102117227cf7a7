/* What we keep of a GpuNode, the report about a node: enough to tell whether it says what it should. */
#ifndef OSTLER_RECONCILERS_MODEL_GPU_NODE_H
#define OSTLER_RECONCILERS_MODEL_GPU_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/record.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/node_stages.h"

#define GPU_NODE_KIND "GpuNode"
/* The member of its status that may be out of date: a policy that changes nothing on a node does not write its report anew. */
#define GPU_NODE_GENERATION "policyGeneration"
/* The member of its status that the agent on the node writes; the others are Ostler's. */
#define GPU_NODE_INVENTORY "inventory"
/* status.driver.version of a node that has a driver of its own, which has no revision. */
#define GPU_NODE_HOST_DRIVER "host"
/* Longest state and time that are kept; what is longer is not ours. */
enum { GPU_NODE_STATE_MAX = 16, GPU_NODE_TIME_MAX = 24 };

/* Longest text of a log that a report shows. */
enum { LAST_WORDS_MAX = 1024 };

/* What a container said before it failed. Owned. */
struct log_tail {
    char *pod;       /* "namespace/name" */
    char *container;
    char *text;      /* NULL: not known, or not yet */
};

/* Of this container, without a text yet; both are copied. Owned by the caller. */
struct log_tail *log_tail_new(const char *pod, const char *container);
/* A copy that the caller owns. */
struct log_tail *log_tail_copy(const struct log_tail *w);
/* NULL is none. */
void log_tail_free(struct log_tail *w);

struct gpu_node {
    struct record head;               /* key = the node's name */
    uint64_t owner;                   /* gpu_node_owner() of the uid of the Node that it goes with */
    char state[GPU_NODE_STATE_MAX];   /* status.state, "" when it says nothing */
    bool rolled_back;                 /* status.reason is RolledBack */
    int64_t since_s;                  /* status.since, seconds of the epoch; 0: it is no time as we write it */
    uint64_t said;                    /* gpu_node_said() of its status */
    struct log_tail *words;         /* status.lastWords; NULL: it says none. Owned */
    struct node_inventory *inventory; /* what the agent on the node has seen; NULL: it was silent so far. Owned */
    struct node_stages stages;        /* how long the node took to become ready, as its status says */
    struct node_holders *holders;     /* who has a GPU open, as that says; NULL: nobody, or it does not say. Owned */
    bool deleting;
};

/* The record of a GpuNode. */
struct gpu_node *gpu_node_project(const json_t *object);
/* Whether nothing that anybody looks at differs. */
bool gpu_node_same(const struct gpu_node *a, const struct gpu_node *b);
/* Frees the record with its key. */
void gpu_node_free(struct gpu_node *g);
/* A Node's uid, in short; 0 for "", which is none. */
uint64_t gpu_node_owner(const char *uid);
/* What a status says of Ostler's, as a hash: all but GPU_NODE_GENERATION, GPU_NODE_STAGES and GPU_NODE_INVENTORY; 0 where nothing
 * is said. */
uint64_t gpu_node_said(const json_t *status);

#endif
