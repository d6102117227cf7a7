/* The cached fields of a GpuNode, the report about a node: enough to know whether the report is up
 * to date. */
#ifndef OSTLER_RECONCILERS_MODEL_GPU_NODE_H
#define OSTLER_RECONCILERS_MODEL_GPU_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/record.h"
#include "reconcilers/model/health_status.h"
#include "reconcilers/model/node_health.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/node_stages.h"

#define GPU_NODE_KIND "GpuNode"
/* The status member that may be stale: Ostler does not rewrite a report only because the policy's
 * generation changed. */
#define GPU_NODE_GENERATION "policyGeneration"
/* The status member that the node's agent writes; Ostler writes the others. */
#define GPU_NODE_INVENTORY "inventory"
/* status.driver.version of a node with a host driver, which has no revision. */
#define GPU_NODE_HOST_DRIVER "host"
/* Longest state and time that are kept; longer text is not Ostler's. */
enum { GPU_NODE_STATE_MAX = 16, GPU_NODE_TIME_MAX = 24 };

/* Longest log tail that a report shows. */
enum { LAST_WORDS_MAX = 1024 };

/* The log tail of a container that failed. Owned. */
struct log_tail {
    char *pod; /* "namespace/name" */
    char *container;
    char *text; /* NULL: not known, or not read yet */
};

/* A log tail of copies of these; NULL: no text. Owned by the caller. */
struct log_tail *log_tail_new(const char *pod, const char *container, const char *text);
/* NULL is allowed. */
void log_tail_free(struct log_tail *w);

struct gpu_node {
    struct record head;             /* key = the node's name */
    uint64_t owner;                 /* str_hash_id() of the uid of its Node */
    char state[GPU_NODE_STATE_MAX]; /* status.state; "": absent */
    bool falls_back;                /* gpu_node_falls_back() of its status */
    int64_t since_s; /* status.since, epoch seconds; 0: not in Ostler's time format */
    uint64_t said;   /* gpu_node_said() of its status */
    struct health_status *concluded;  /* status.health; NULL: absent. Owned */
    struct log_tail *words;           /* status.lastWords; NULL: absent. Owned */
    struct node_inventory *inventory; /* what the agent reported; NULL: no report yet. Owned */
    struct node_stages stages;        /* status.timeToReady */
    /* Processes and pods that hold a GPU open, by the inventory; NULL: none, or not known.
     * Owned. */
    struct node_holders *holders;
    /* What is wrong with its GPUs; NULL: nothing, or not known. Owned. */
    struct node_health *health;
    bool deleting;
};

/* The record of a GpuNode. */
struct gpu_node *gpu_node_project(const json_t *object);
/* Whether a status says that the node runs another version than the policy asks for, because that
 * one failed: on this node (`RolledBack`) or on another one (`RevisionFailed`). */
bool gpu_node_falls_back(const json_t *status);
/* Whether all cached fields that decisions use are equal. */
bool gpu_node_same(const struct gpu_node *a, const struct gpu_node *b);
/* Frees the record with its key. */
void gpu_node_free(struct gpu_node *g);
/* Hash of Ostler's part of a status: all members except GPU_NODE_GENERATION, GPU_NODE_STAGES and
 * GPU_NODE_INVENTORY; 0 if there are no others. */
uint64_t gpu_node_said(const json_t *status);

#endif
