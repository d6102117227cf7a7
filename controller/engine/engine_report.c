/* An engine's metrics and readiness checks. */
#include <stdlib.h>

#include "base/log.h"
#include "controller/engine/engine.h"
#include "controller/engine/engine_state.h"
#include "reconcilers/model/names.h"

void engine_metrics_add(struct engine *en)
{
    static const char *const by_name[] = { "name", NULL };
    static const char *const by_resource[] = { "resource", NULL };
    struct metrics *registry = en->o.metrics;
    controller_metrics_add(&en->controller_metrics, registry);
    fleet_metrics_add(&en->fleet_metrics, registry);
    en->leader = metrics_gauge(registry, "leader_election_master_status",
                               "Whether this replica leads.", by_name);
    en->cache_objects = metrics_gauge(registry, "ostler_cache_objects",
                                      "Objects in the cache, by resource.", by_resource);
    en->watch_restarts = metrics_counter(registry, "ostler_watch_failures_total",
                                         "Lists and watches that failed, by resource.",
                                         by_resource);
    en->unreadable = metrics_counter(
        registry, "ostler_unreadable_objects_total",
        "Objects that could not be parsed, counted each time they arrive, by resource.",
        by_resource);
    en->events_dropped = metrics_counter(registry, "ostler_events_dropped_total",
                                         "Kubernetes events that were dropped.", NULL);
}

void engine_update_metrics(struct engine *en)
{
    metric_set(en->leader, (const char *const[]){ "ostler" }, en->leading);
    fleet_metrics_show(&en->fleet_metrics, &en->cluster, &en->reconcilers.rollout);
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        if (!en->cluster.informers[i])
            continue;
        const char *const labels[] = { resource_name((enum resource_id) i) };
        metric_set(en->cache_objects, labels, (double) en->cluster.tables[i].records.len);
        metric_set(en->watch_restarts, labels,
                   (double) informer_state(en->cluster.informers[i]).restarts);
        metric_set(en->unreadable, labels,
                   (double) informer_state(en->cluster.informers[i]).unreadable);
    }
    metric_set(en->events_dropped, NULL, (double) recorder_dropped(en->recorder));
    for (size_t i = 0; i < PASS_COUNT; i++)
        controller_update_metrics(en->passes[i]);
}

/* The first failing watch gives the reason; before its first list, each counts as failing. */
char *engine_why_watches_fail(void *arg)
{
    const struct engine *en = arg;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        const struct informer *inf = en->cluster.informers[i];
        if (inf && informer_state(inf).problem)
            return xstrdup(informer_state(inf).problem);
    }
    return cluster_synced(&en->cluster) ? NULL : xstrdup("the first lists are not complete yet");
}

char *engine_why_lease_fails(void *arg)
{
    const struct engine *en = arg;
    if (!en->lease)
        return NULL;
    const char *problem = lease_problem(en->lease), *of_claim = lease_problem(en->cluster_lease),
               *holder = lease_holder(en->cluster_lease);
    if (problem || of_claim)
        return xstrdup(problem ? problem : of_claim);
    if (holder && lease_is_leading(en->lease))
        return xasprintf(
            "the Ostler in namespace %s manages this cluster (Lease " CLUSTER_LEASE_NAMESPACE
            "/" CLUSTER_LEASE_NAME "), and "
            "only one may: uninstall one of the two. This one takes over a minute after that one "
            "has ended",
            holder);
    return NULL;
}

void engine_take_right(struct engine *en, const struct request *request, const struct err *e)
{
    struct missing_right *m = &en->missing;
    bool same = m->sentence && m->method == request->method && m->resource == request->resource;
    if (same && e->kind == ERR_NONE) {
        free(TAKE(m->sentence));
    } else if (!m->sentence && e->kind == ERR_FORBIDDEN) {
        *m = (struct missing_right){ xstrdup(err_msg(e)), request->method, request->resource };
        log_warn("a permission is missing", "err", m->sentence);
    }
}

char *engine_why_writes_fail(void *arg)
{
    const struct engine *en = arg;
    return en->missing.sentence ? xasprintf("%s; grant the permission: the chart's ClusterRole and "
                                            "Roles have all that Ostler needs",
                                            en->missing.sentence)
                                : NULL;
}

char *engine_why_prerequisites_fail(void *arg)
{
    const struct engine *en = arg;
    const struct prerequisite_problem *worst = prerequisites_worst(&en->prerequisites);
    if (worst)
        return xasprintf("%s: %s", reason_text(worst->reason), worst->message);
    if (en->look.forbidden)
        return xasprintf("%s; grant the permission: the chart's ClusterRole has it",
                         en->look.forbidden);
    return en->look.known ? NULL : xstrdup("Ostler's prerequisites have not been read yet");
}

char *engine_why_stopping(void *arg)
{
    const struct engine *en = arg;
    return en->stopping ? xstrdup("the process is stopping") : NULL;
}
