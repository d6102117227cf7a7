/* The table of Pods. */
#include "sim/api/table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

/* A summary of a pod's containers. */
struct pod_summary {
    char *reason; /* owned */
    int64_t ready, total;
    int64_t restarts;
    int64_t restarted_us; /* when the last one was; -1: never */
};

static void summary_clear(struct pod_summary *s)
{
    free(s->reason);
}

static void set_reason(struct pod_summary *s, char *reason_steal)
{
    free(s->reason);
    s->reason = reason_steal;
}

/* Counts the restarts of a container. */
static void add_restarts(struct pod_summary *s, const json_t *status)
{
    s->restarts += json_int(status, "restartCount", 0);
    const char *ended = json_str(status, "lastState.terminated.finishedAt");
    int64_t ended_us = ended ? clock_parse_rfc3339(ended) : -1;
    if (ended_us > s->restarted_us)
        s->restarted_us = ended_us;
}

/* Why a container ended: its reason, else its signal, else its exit code. Owned by the caller. */
static char *end_of(const json_t *terminated, const char *prefix)
{
    const char *reason = json_str_or_empty(terminated, "reason");
    int64_t signal = json_int(terminated, "signal", 0);
    if (*reason)
        return xasprintf("%s%s", prefix, reason);
    if (signal)
        return xasprintf("%sSignal:%" PRId64, prefix, signal);
    return xasprintf("%sExitCode:%" PRId64, prefix, json_int(terminated, "exitCode", 0));
}

/* ---- init containers */

/* A sidecar: an init container that runs for as long as the pod does. */
static bool is_sidecar(const json_t *pod, const char *name)
{
    return str_eq(
        json_str(json_find(json_at(pod, "spec.initContainers"), "name", name), "restartPolicy"),
        "Always");
}

/* Why an init container blocks the pod; NULL if it does not. Owned by the caller. */
static char *init_hold(const json_t *pod, const json_t *status, size_t place)
{
    const json_t *terminated = json_at(status, "state.terminated");
    const char *waiting = json_str_or_empty(status, "state.waiting.reason");
    if (terminated && json_int(terminated, "exitCode", 0) == 0)
        return NULL;
    if (is_sidecar(pod, json_str_or_empty(status, "name")) && json_bool(status, "started", false))
        return NULL;
    if (terminated)
        return end_of(terminated, "Init:");
    if (*waiting && !str_eq(waiting, "PodInitializing"))
        return xasprintf("Init:%s", waiting);
    return xasprintf("Init:%zu/%zu", place, json_array_size(json_at(pod, "spec.initContainers")));
}

/* Adds the init containers up to the one that blocks the pod; whether there is one. `sidecars`
 * counts only the restarts of sidecars, for a pod that is not blocked. */
static bool add_init_containers(struct pod_summary *s, struct pod_summary *sidecars,
                                const json_t *pod)
{
    JSON_EACH_AT (i, status, json_at(pod, "status.initContainerStatuses")) {
        bool sidecar = is_sidecar(pod, json_str_or_empty(status, "name"));
        add_restarts(s, status);
        if (sidecar)
            add_restarts(sidecars, status);
        char *hold = init_hold(pod, status, i);
        if (hold) {
            set_reason(s, hold);
            return true;
        }
        if (sidecar && json_bool(status, "ready", false) && json_bool(status, "started", false))
            s->ready++;
    }
    return false;
}

/* ---- containers */

static void settle_completed(struct pod_summary *s, const json_t *pod, bool running,
                             const char *failure)
{
    if (!str_eq(s->reason, "Completed"))
        return;
    if (running && condition_is_true(pod, "Ready"))
        set_reason(s, xstrdup("Running"));
    else if (failure)
        set_reason(s, xstrdup(failure));
    else if (running)
        set_reason(s, xstrdup("NotReady"));
}

/* Adds the containers in reverse order: the reason of the first one counts. */
static void add_containers(struct pod_summary *s, const json_t *pod)
{
    const json_t *statuses = json_at(pod, "status.containerStatuses");
    CLEANUP_FREE char *failure = NULL;
    bool running = false;
    for (size_t i = json_array_size(statuses); i-- > 0;) {
        const json_t *status = json_array_get(statuses, i);
        const char *waiting = json_str_or_empty(status, "state.waiting.reason");
        const json_t *terminated = json_at(status, "state.terminated");
        add_restarts(s, status);
        if (*waiting) {
            set_reason(s, xstrdup(waiting));
        } else if (terminated) {
            set_reason(s, end_of(terminated, ""));
            if (json_int(terminated, "exitCode", 0) != 0)
                xstrset(&failure, s->reason);
        } else if (json_bool(status, "ready", false) && json_at(status, "state.running")) {
            running = true;
            s->ready++;
        }
    }
    settle_completed(s, pod, running, failure);
}

/* ---- the pod */

static bool is_gated(const json_t *pod)
{
    const json_t *scheduled = condition_of(pod, "PodScheduled");
    return str_eq(json_str(scheduled, "reason"), "SchedulingGated");
}

static void settle_deletion(struct pod_summary *s, const json_t *pod)
{
    const char *phase = json_str_or_empty(pod, "status.phase");
    if (!object_is_deleting(pod))
        return;
    if (str_eq(json_str(pod, "status.reason"), "NodeLost"))
        set_reason(s, xstrdup("Unknown"));
    else if (!str_eq(phase, "Succeeded") && !str_eq(phase, "Failed"))
        set_reason(s, xstrdup("Terminating"));
}

static int64_t container_count(const json_t *pod)
{
    int64_t total = (int64_t) json_array_size(json_at(pod, "spec.containers"));
    JSON_EACH_AT (i, container, json_at(pod, "spec.initContainers"))
        total += str_eq(json_str(container, "restartPolicy"), "Always");
    return total;
}

static void summarise(const json_t *pod, struct pod_summary *s)
{
    struct pod_summary sidecars = { .restarted_us = -1 };
    const char *reason = json_str_or_empty(pod, "status.reason");
    *s = (struct pod_summary){ .total = container_count(pod), .restarted_us = -1 };
    set_reason(s, xstrdup(is_gated(pod) ? "SchedulingGated"
                          : *reason     ? reason
                                        : json_str_or_empty(pod, "status.phase")));
    if (!add_init_containers(s, &sidecars, pod) || condition_is_true(pod, "Initialized")) {
        s->restarts = sidecars.restarts;
        s->restarted_us = sidecars.restarted_us;
        add_containers(s, pod);
    }
    settle_deletion(s, pod);
}

static json_t *cell_ready(const struct cell *c)
{
    CLEANUP(summary_clear) struct pod_summary s;
    summarise(c->object, &s);
    return json_textf("%" PRId64 "/%" PRId64, s.ready, s.total);
}

static json_t *cell_status(const struct cell *c)
{
    CLEANUP(summary_clear) struct pod_summary s;
    summarise(c->object, &s);
    return json_text(s.reason);
}

static json_t *cell_restarts(const struct cell *c)
{
    CLEANUP(summary_clear) struct pod_summary s;
    summarise(c->object, &s);
    if (s.restarts == 0 || s.restarted_us < 0)
        return json_textf("%" PRId64, s.restarts);
    CLEANUP_FREE char *ago = table_duration(c->now_us - s.restarted_us);
    return json_textf("%" PRId64 " (%s ago)", s.restarts, ago);
}

static json_t *cell_ip(const struct cell *c)
{
    const char *ip = json_str_or_empty(json_array_get(json_at(c->object, "status.podIPs"), 0),
                                       "ip");
    return json_text(*ip ? ip : c->empty);
}

static json_t *cell_gates(const struct cell *c)
{
    const json_t *gates = json_at(c->object, "spec.readinessGates");
    if (json_array_size(gates) == 0)
        return json_text(c->empty);
    size_t met = 0;
    JSON_EACH_AT (i, gate, gates)
        met += condition_is_true(c->object, json_str_or_empty(gate, "conditionType"));
    return json_textf("%zu/%zu", met, json_array_size(gates));
}

static const struct column pod_columns[] = {
    COLUMN_NAME,
    { "Ready", "string", 0, cell_ready, "", NULL },
    { "Status", "string", 0, cell_status, "", NULL },
    { "Restarts", "string", 0, cell_restarts, "", NULL },
    COLUMN_AGE,
    { "IP", "string", 1, cell_ip, "", "<none>" },
    { "Node", "string", 1, cell_text, "spec.nodeName", "<none>" },
    { "Nominated Node", "string", 1, cell_text, "status.nominatedNodeName", "<none>" },
    { "Readiness Gates", "string", 1, cell_gates, "", "<none>" },
};
const struct columns columns_of_pod = COLUMNS(pod_columns);
