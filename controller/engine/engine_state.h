/* The members of an engine, shared only by the files of this directory. */
#ifndef OSTLER_CONTROLLER_ENGINE_ENGINE_STATE_H
#define OSTLER_CONTROLLER_ENGINE_ENGINE_STATE_H

#include "base/metrics.h"
#include "controller/engine/engine_options.h"
#include "kube/exchange.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/prerequisites.h"
#include "reconcilers/reconcilers.h"
#include "runtime/controller.h"
#include "runtime/lease.h"
#include "runtime/recorder.h"
#include "runtime/text_reader.h"

/* A permission that one of Ostler's writes lacked. Zero-initialised = none. */
struct missing_right {
    char *sentence;     /* the API server's message; owned */
    const char *method; /* of the request */
    enum resource_id resource;
};

/* The check of Ostler's prerequisites, one part after another. */
struct prerequisites_check {
    enum prerequisite part; /* the part in progress, or the next */
    struct exchange exchange;
    struct timer due;
    int64_t looked_ms;
    bool began;
    bool again; /* check again: something changed meanwhile */
    bool news;  /* this check found a change */
    bool known; /* every part was read once */
    /* what it may not read: in this check so far, in the last one; NULL: nothing. Owned */
    char *refused, *forbidden;
};

/* The state of `ostler cleanup`. */
struct cleanup {
    size_t step;
    struct exchange exchange; /* for that step's request */
    struct timer tick;
    int64_t began_ms, told_ms;
    /* another installation owns the cluster: remove only this installation's own objects */
    bool leaves;
    char *deleted; /* uid of the policy whose deletion was requested; NULL: none. Owned */
};

/* What the engine may do now. */
enum engine_mode {
    ENGINE_STILL,     /* nothing */
    ENGINE_REPORTING, /* only report in the policy's status why nothing else happens */
    ENGINE_WORKING,
};

/* The kinds of passes, each with a controller of its own. The policy's begins first. */
enum engine_pass { PASS_POLICY, PASS_ROLLOUT, PASS_NODE, PASS_REPORT, PASS_COUNT };

struct engine {
    struct engine_options o;
    struct cluster cluster;
    struct reconcilers reconcilers;
    struct executor *executor, *report_executor;
    struct controller *passes[PASS_COUNT];
    struct recorder *recorder;
    struct text_reader *reader;
    struct lease *lease; /* elects the active replica; NULL without leader election */
    /* elects the active installation of the cluster, by its namespace; NULL as above */
    struct lease *cluster_lease;
    struct outage outage;
    int64_t policy_looked_ms, rollout_looked_ms;
    bool leading;             /* may write: holds both leases */
    bool cluster_lease_begun; /* the second lease was started */
    enum engine_mode mode;
    bool stopping, drain_writes, releasing, finished;
    struct timer drain_due;
    struct prerequisites prerequisites;
    /* a copy of the problem in the policy's status: a check may be running */
    struct prerequisite_problem blocked;
    struct prerequisites_check look;
    struct cleanup cleanup;
    int exit_code;
    struct missing_right missing; /* the first forbidden write, until the API server allows it */

    struct controller_metrics controller_metrics;
    struct fleet_metrics fleet_metrics;
    struct metric *leader, *cache_objects, *watch_restarts, *unreadable, *events_dropped;
};

/* Registers the metrics. */
void engine_metrics_add(struct engine *en);
/* Records the outcome of a write, for engine_why_writes_fail(). */
void engine_take_right(struct engine *en, const struct request *request, const struct err *e);
/* Ends all passes; none begins before the controllers start again. */
void engine_stop_passes(struct engine *en);
/* Sets up stopping at the end of a turn. */
void engine_stop_init(struct engine *en);
/* Sets up the prerequisites check. */
void engine_prerequisites_init(struct engine *en);
/* The check has its first result, or a change. */
void engine_on_prerequisites(struct engine *en);
/* Starts a check, because something may have changed. */
void engine_prerequisites_check(struct engine *en);
/* Cancels its requests and frees its memory. */
void engine_prerequisites_clear(struct engine *en);
/* Sets up the steps of an engine that only cleans up. */
void engine_cleanup_init(struct engine *en);
/* Checks, after a change, whether the next step can run. */
void engine_cleanup_look(struct engine *en);
/* Cancels its requests and frees its memory. */
void engine_cleanup_clear(struct engine *en);

#endif
