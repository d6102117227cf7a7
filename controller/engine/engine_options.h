/* What an engine is made with. */
#ifndef OSTLER_CONTROLLER_ENGINE_ENGINE_OPTIONS_H
#define OSTLER_CONTROLLER_ENGINE_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/transport.h"
#include "reconcilers/cluster.h"
#include "runtime/loop.h"

struct manifests;
struct metrics;

/* What a cleanup does in addition to removing Ostler's objects, labels and taints. */
struct cleanup_wishes {
    /* deletes the policy, and leaves the rest to the leading Ostler if there is one */
    bool delete_policy;
    bool force;            /* removes drivers under running jobs, too */
    bool delete_namespace; /* deletes the operands' namespace last */
    bool delete_crds;      /* then deletes both CRDs */
    /* before these two, deletes the Deployment, so that no other Ostler runs and the leases can
     * be deleted */
    bool delete_operator;
    int64_t timeout_ms; /* gives up after this; 0: never */
};

/* Who looks at what the engine knows. */
struct engine_viewer {
    /* As `shown` of struct cluster_listener; NULL: there is none. */
    void (*changed)(void *arg, const char *name);
    void *arg;
};

/* All members are borrowed and must outlive the engine. Callbacks run in a turn of the loop;
 * none may free the engine. */
struct engine_options {
    const struct transport *transport;
    struct loop *loop;
    const struct clock *clock;
    const struct manifests *manifests; /* read-only: engines may share it */
    struct metrics *metrics;           /* registry for the engine's metrics */
    const char *identity;              /* unique per engine: in the lease and in Events */
    const char *lease_namespace;
    /* What the cluster is made with, besides the clock and what the engine itself sets: listener,
     * prerequisites, and what a cleanup removes. */
    struct cluster_options cluster;
    uint64_t seed; /* for the jitter between retries */
    bool leader_elect;
    bool cleanup;                 /* remove everything, then end */
    struct cleanup_wishes wishes; /* of the cleanup */
    /* Another process holds the lease: send nothing after this returns. */
    void (*lost)(void *arg);
    /* The engine has stopped, or its `cleanup` is done: it does nothing more. */
    void (*finished)(void *arg, int exit_code);
    /* Called for every response to a write, for metrics: HTTP status, or 0 if there was none.
     * May be NULL. */
    void (*answered)(void *arg, const struct request *request, int status);
    void *arg;
    struct engine_viewer viewer;
};

#endif
