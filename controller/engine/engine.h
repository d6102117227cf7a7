/* The operator without its process: informers, controllers, executor, recorder and lease over a given transport, loop and clock.
 * The program drives one over the network, the simulator any number of them over a world of its own; both run the same code.
 * Nothing here is static: an engine is all that there is of an Ostler. */
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

/* What a cleanup does besides taking off what is there. */
struct cleanup_wishes {
    bool delete_policy;    /* deletes the policy, and leaves the work to the Ostler that leads, where one does */
    bool force;            /* drivers go from under running jobs too */
    bool delete_namespace; /* last, when nothing is left: that of the operands */
    bool delete_crds;      /* the same: both definitions */
    bool delete_operator;  /* before these two: the Deployment, so that no Ostler runs beside it and its leases can go */
    int64_t timeout_ms;    /* gives up after this; 0: never */
};

/* All is borrowed and outlives the engine. Callbacks come from a turn of the loop; none may free the engine. */
struct engine_options {
    const struct transport *transport;
    struct loop *loop;
    const struct clock *clock;
    const struct manifests *manifests; /* only read: any number of engines may share it */
    struct metrics *metrics;           /* registry to which the engine adds its own */
    const char *identity;              /* unique per engine: in the lease and in events */
    const char *lease_namespace;
    const char *operand_namespace;
    struct policy_limits limits;       /* of the policy */
    const char *agent_image;           /* of the node agent; NULL: it runs nowhere */
    const char *own_pod;               /* "namespace/name" of the pod that it is in; NULL: not known, or none */
    const char *node_name;             /* the node that it runs on, which is upgraded last; NULL: not known, or on none */
    int64_t absent_grace_ms;           /* how long no policy must be seen before marks come off */
    uint64_t seed;                     /* of the jitter between retries */
    bool leader_elect;
    bool cleanup;                      /* remove everything, then end */
    struct cleanup_wishes wishes;      /* of it */
    /* The lease is somebody else's: nothing may be sent after this returns. */
    void (*lost)(void *arg);
    /* The engine has stopped, or, with `cleanup`, is through: it will do nothing more. */
    void (*finished)(void *arg, int exit_code);
    /* Every answer to a write, for the metrics: HTTP status, or 0 where none came. May be NULL. */
    void (*answered)(void *arg, const struct request *request, int status);
    void *arg;
};

/* Owned by the caller; does nothing before engine_start(). */
struct engine *engine_new(const struct engine_options *o);
/* Begins to list, to watch and to ask for the lease. */
void engine_start(struct engine *en);
/* Begins to stop: writes on their way may come back, then the lease is given back, then finished(exit_code). Within 2 s, but
 * for a cleanup that is through, which deletes its leases. */
void engine_stop(struct engine *en, int exit_code);
/* Ends everything at once: requests are cancelled, nothing more is sent. */
void engine_free(struct engine *en);

/* Whether decisions are made: it leads and every watch is well. */
bool engine_working(const struct engine *en);
/* What is known of the cluster, to be compared with the truth. Borrowed. */
const struct cluster *engine_cluster(const struct engine *en);

/* ---- what it shows of itself (engine_report.c) */

/* Brings the engine's metrics up to date, before they are shown. */
void engine_update_metrics(struct engine *en);
/* Why it is not ready: what it stands on is not as it should be. As below. */
char *engine_why_prerequisites_fail(void *arg);
/* Why it is not ready, one sentence that the caller frees, or NULL. `arg` is the engine: checks of /readyz. */
char *engine_why_watches_fail(void *arg);
/* The same of the lease. */
char *engine_why_lease_fails(void *arg);
/* The same of writes: a permission is missing. */
char *engine_why_writes_fail(void *arg);
/* The same: it is stopping. */
char *engine_why_stopping(void *arg);

#endif
