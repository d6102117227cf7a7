/* What an engine is made of. Shared by the files of this folder only. */
#ifndef OSTLER_ENGINE_ENGINE_STATE_H
#define OSTLER_ENGINE_ENGINE_STATE_H

#include "base/metrics.h"
#include "engine/engine.h"
#include "reconcilers/cluster.h"
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

struct engine {
    struct engine_options o;
    struct cluster cluster;
    struct reconcilers reconcilers;
    struct executor *executor, *report_executor;
    struct controller *nodes, *policies, *rollouts, *reports;
    struct recorder *recorder;
    struct text_reader *reader;
    struct lease *lease; /* NULL without leader election */
    struct outage outage;
    int64_t policy_looked_ms, rollout_looked_ms;
    bool leading;  /* it may write */
    bool working;  /* the controllers have started */
    bool stopping, drain_writes, releasing, finished;
    struct timer drain_due;
    struct timer patience; /* of `cleanup`, with another Ostler that leads */
    int exit_code;
    struct missing_right missing; /* the first write that was forbidden and has not been allowed since */

    struct controller_metrics controller_metrics;
    struct fleet_metrics fleet_metrics;
    struct metric *leader, *cache_objects, *watch_restarts, *events_dropped;
};

/* Registers the metrics. */
void engine_metrics_add(struct engine *en);
/* Takes note of what became of a write: for engine_why_writes_fail(). */
void engine_take_right(struct engine *en, const struct request *request, const struct err *e);
/* Sets up what ends an engine that only cleans up, and what stops one at the end of a turn. */
void engine_stop_init(struct engine *en);

#endif
