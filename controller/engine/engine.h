/* The operator without its process: informers, controllers, executor, recorder and lease over a
 * given transport, loop and clock. The program runs one engine over the network, the simulator
 * any number in its own world, with the same code. It has no static state. */
#ifndef OSTLER_CONTROLLER_ENGINE_ENGINE_H
#define OSTLER_CONTROLLER_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/transport.h"
#include "reconcilers/model/policy.h"
#include "runtime/loop.h"

struct cluster;
struct engine;
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
    const char *operand_namespace;
    struct policy_limits limits; /* for the policy */
    const char *agent_image;     /* for the node agent; NULL: no agents */
    const char *own_pod;         /* "namespace/name" of this process's pod; NULL: unknown or none */
    const char *node_name;       /* this process's node, upgraded last; NULL: unknown or none */
    /* how long the policy must be absent before labels and taints are removed */
    int64_t absent_grace_ms;
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
};

/* Owned by the caller; does nothing before engine_start(). */
struct engine *engine_new(const struct engine_options *o);
/* Starts to list, to watch and to acquire the lease. */
void engine_start(struct engine *en);
/* Starts to stop: waits for writes in flight, releases the lease, then calls
 * finished(exit_code). It takes at most 2 s, except for a completed cleanup, which deletes its
 * leases. */
void engine_stop(struct engine *en, int exit_code);
/* Cancels all requests at once and sends nothing more. */
void engine_free(struct engine *en);

/* Whether the engine makes decisions: it leads and all watches work. */
bool engine_working(const struct engine *en);
/* The engine's view of the cluster, for comparison with the truth. Borrowed. */
const struct cluster *engine_cluster(const struct engine *en);

/* ---- reports about the engine (engine_report.c) */

/* Updates the engine's metrics before a scrape. */
void engine_update_metrics(struct engine *en);
/* Why the engine is not ready: a prerequisite is missing or wrong. As below. */
char *engine_why_prerequisites_fail(void *arg);
/* Why the engine is not ready, as one sentence that the caller frees, or NULL. `arg` is the
 * engine: these are checks of /readyz. */
char *engine_why_watches_fail(void *arg);
/* The same for the lease. */
char *engine_why_lease_fails(void *arg);
/* The same for writes: a permission is missing. */
char *engine_why_writes_fail(void *arg);
/* The same while the engine stops. */
char *engine_why_stopping(void *arg);

#endif
