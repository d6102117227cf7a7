#include "reconcilers/model/rollout_spec.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* For a count or duration that is not set. */
enum { NO_LIMIT = -1 };

struct rollout_count spec_count_at(const json_t *section, const char *path)
{
    const json_t *value = json_at(section, path);
    struct rollout_count c = { .value = json_is_integer(value) ? json_integer_value(value)
                                                               : NO_LIMIT };
    const char *text = json_string_value(value);
    size_t digits = text ? strspn(text, "0123456789") : 0;
    CLEANUP_FREE char *number = text && str_eq(text + digits, "%") ? xstrndup(text, digits) : NULL;
    if (number)
        c.percent = str_parse_int(number, 1, 100, &c.value);
    return c;
}

/* Rounded up, so that no wait is too short. */
int64_t spec_span_at(const json_t *section, const char *path)
{
    const char *text = json_str(section, path);
    int64_t ms;
    if (!text || !str_parse_duration(text, &ms))
        return NO_LIMIT;
    return ms / 1000 + (ms % 1000 != 0);
}

/* An unknown time zone makes a window that never opens. A valid spec has no invalid schedule; such
 * a window would not open either. */
static size_t read_windows(const json_t *rollout, struct window ret[static ROLLOUT_WINDOWS_MAX])
{
    size_t len = 0;
    JSON_EACH (window, json_object_get(rollout, "windows")) {
        if (len == ROLLOUT_WINDOWS_MAX)
            break;
        struct window *w = &ret[len++];
        if (!window_parse(json_str_or_empty(window, "schedule"), spec_span_at(window, "duration"),
                          json_str_or_empty(window, "timeZone"), w))
            *w = (struct window){ 0 };
    }
    return len;
}

static struct drain_spec read_drain(const json_t *rollout)
{
    return (struct drain_spec){
        .mode = str_eq(json_str(rollout, "drain.mode"), "AllPods") ? DRAIN_ALL_PODS
                                                                   : DRAIN_GPU_PODS,
        .wait_for_jobs_s = spec_span_at(rollout, "drain.waitForJobs"),
        .timeout_s = spec_span_at(rollout, "drain.timeout"),
        .on_timeout = str_eq(json_str(rollout, "drain.onTimeout"), "Delete") ? DRAIN_DELETE
                                                                             : DRAIN_RELEASE,
        .delete_empty_dir = json_bool(rollout, "drain.deleteEmptyDir", true),
        .force = json_bool(rollout, "drain.force", false),
        .taint_key = json_str(rollout, "taintKey"),
        .pod_selector = json_is_object(json_at(rollout, "drain.podSelector"))
                            ? json_at(rollout, "drain.podSelector")
                            : NULL,
    };
}

void rollout_spec_decode(const json_t *spec, struct rollout_spec *ret)
{
    const json_t *rollout = json_object_get(spec, "rollout");
    *ret = (struct rollout_spec){
        .paused = json_bool(rollout, "paused", false),
        .manual = str_eq(json_str(rollout, "approval"), "Manual"),
        .max_parallel = spec_count_at(rollout, "maxParallel"),
        .max_unavailable = spec_count_at(rollout, "maxUnavailable"),
        .max_unavailable_gpus = spec_count_at(rollout, "maxUnavailableGpus"),
        .failure_threshold = spec_count_at(rollout, "failureThreshold"),
        .topology_key = json_str(rollout, "topologyKey"),
        .order = str_eq(json_str(rollout, "order"), "Name") ? ROLLOUT_BY_NAME : ROLLOUT_IDLE_FIRST,
        .canary_nodes = json_int(rollout, "canary.nodes", 0),
        .canary_soak_s = spec_span_at(rollout, "canary.soak"),
        .soak_s = spec_span_at(rollout, "soak"),
        .on_failure = str_eq(json_str(rollout, "onFailure"), "Pause") ? ROLLOUT_PAUSE
                                                                      : ROLLOUT_ROLLBACK,
        .drain = read_drain(rollout),
        .install_timeout_s = spec_span_at(rollout, "timeouts.install"),
        .validation_timeout_s = spec_span_at(rollout, "timeouts.validation"),
    };
    ret->window_count = read_windows(rollout, ret->windows);
}

size_t rollout_count_of(const struct rollout_count *c, size_t all)
{
    if (c->value < 0)
        return SIZE_MAX;
    if (!c->percent)
        return (size_t) c->value;
    /* Hundreds and the remainder separately, to avoid overflow for any number of nodes. */
    size_t share = (size_t) c->value;
    return all / 100 * share + (all % 100 * share + 99) / 100;
}
