/* What an engine is made of. Shared by the files of this folder only. */
#ifndef OSTLER_CONTROLLER_ENGINE_ENGINE_STATE_H
#define OSTLER_CONTROLLER_ENGINE_ENGINE_STATE_H

#include "base/metrics.h"
#include "controller/engine/engine.h"
#include "kube/exchange.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/prerequisites.h"
#include "reconcilers/reconcilers.h"
#include "runtime/controller.h"
#include "runtime/lease.h"
#include "runtime/recorder.h"
#include "runtime/text_reader.h"

/* A right that a write of ours lacked. Zero-initialised = none. */
struct missing_right {
    char *sentence;      /* what the API server said; owned */
    const char *method;  /* of the request */
    enum resource_id resource;
};

/* Reading what Ostler stands on, one part after the other. */
struct prerequisites_check {
    enum prerequisite part; /* that is asked for, or is next */
    struct exchange exchange;
    struct timer due;
    int64_t looked_ms;
    bool began;
    bool again; /* something happened meanwhile: once more */
    bool news;  /* this time something is otherwise than before */
    bool known; /* each part was read once */
    char *refused, *forbidden; /* what it may not read: this time so far, and last time; NULL: nothing. Owned */
    loop_fn *changed;
};

/* What `ostler cleanup` is about. */
struct cleanup {
    size_t step;
    struct exchange exchange; /* of that step's request */
    struct timer tick;
    int64_t began_ms, told_ms;
    bool leaves;   /* the cluster is another installation's: only what is this one's own goes */
    char *deleted; /* uid of the policy whose deletion was asked for; NULL: there was none. Owned */
};

/* What may be done at the moment. */
enum engine_mode {
    ENGINE_STILL,   /* nothing */
    ENGINE_REPORTING, /* the policy's status is told why nothing is */
    ENGINE_WORKING,
};

struct engine {
    struct engine_options o;
    struct cluster cluster;
    struct reconcilers reconcilers;
    struct executor *executor, *report_executor;
    struct controller *nodes, *policies, *rollouts, *reports;
    struct recorder *recorder;
    struct text_reader *reader;
    struct lease *lease; /* which replica of this installation acts; NULL without leader election */
    struct lease *cluster_lease; /* which installation acts in this cluster, by the namespace that it is in; NULL as above */
    struct outage outage;
    int64_t policy_looked_ms, rollout_looked_ms;
    bool leading;  /* it may write: both leases are ours */
    bool cluster_lease_begun; /* the second one was begun */
    enum engine_mode mode;
    bool stopping, drain_writes, releasing, finished;
    struct timer drain_due;
    struct prerequisites prerequisites;
    struct prerequisite_problem blocked; /* a copy of what the policy's status is told: a look may be under way */
    struct prerequisites_check look;
    struct cleanup cleanup;
    int exit_code;
    struct missing_right missing; /* the first write that was forbidden and has not been allowed since */

    struct controller_metrics controller_metrics;
    struct fleet_metrics fleet_metrics;
    struct metric *leader, *cache_objects, *watch_restarts, *unreadable, *events_dropped;
};

/* Registers the metrics. */
void engine_metrics_add(struct engine *en);
/* Takes note of what became of a write: for engine_why_writes_fail(). */
void engine_take_right(struct engine *en, const struct request *request, const struct err *e);
/* Sets up what stops an engine at the end of a turn. */
void engine_stop_init(struct engine *en);
/* Sets up reading what Ostler stands on; `changed` is called, with the engine, when that is known first, or is news. */
void engine_prerequisites_init(struct engine *en, loop_fn *changed);
/* Reads it, for something may have changed. */
void engine_prerequisites_check(struct engine *en);
/* Ends its requests and frees what it holds. */
void engine_prerequisites_clear(struct engine *en);
/* Sets up what an engine that only cleans up does besides. */
void engine_cleanup_init(struct engine *en);
/* Something has changed: whether the next step can be done. */
void engine_cleanup_look(struct engine *en);
/* Ends its requests and frees what it holds. */
void engine_cleanup_clear(struct engine *en);

#endif
