/* Validation of Events, as the API server has it. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/validate.h"

/* Texts of events.k8s.io that have a limit; by their names in the store. */
static const struct text_limit {
    const char *key;
    size_t max;
    bool required;
} limits[] = {
    { "reportingInstance", 128, true },
    { "action", 128, true },
    { "reason", 128, true },
    { "message", 1024, false },
};

/* What an update may not change. */
static const char *const fixed[] = {
    "involvedObject",    "reason", "message",   "type",   "reportingComponent",
    "reportingInstance", "action", "related",   "source", "firstTimestamp",
    "lastTimestamp",     "count",  "eventTime",
};

/* An event is in the namespace of its object; in "default" for cluster-scoped objects. */
static void validate_namespace(const json_t *event, struct refusal *r)
{
    const struct spot *at = SPOT(SPOT(NULL, "involvedObject"), "namespace");
    const char *about = json_str_or_empty(event, "involvedObject.namespace"),
               *ns = object_namespace(event);
    if (!str_eq(*about ? about : "default", ns))
        spot_invalid_text(r, at, about, "does not match event.namespace");
}

/* `by` is the name of the reporter's field. */
static void validate_texts(const json_t *event, const char *by, struct refusal *r)
{
    const struct spot *controller = SPOT(NULL, by);
    const char *who = json_str_or_empty(event, "reportingComponent");
    if (!*who)
        spot_required(r, controller, "");
    validate_qualified_name(who, controller, r);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        const struct spot *at = SPOT(NULL, limits[i].key);
        size_t n = strlen(json_str_or_empty(event, limits[i].key));
        if (n == 0 && limits[i].required)
            spot_required(r, at, "");
        else if (n > limits[i].max)
            spot_invalid_text(r, at, "", "can have at most %zu characters", limits[i].max);
    }
}

static bool has_time(const json_t *event, const char *key)
{
    return *json_str_or_empty(event, key) != '\0';
}

static void validate_series(const json_t *series, struct refusal *r)
{
    const struct spot *at = SPOT(NULL, "series");
    if (!json_is_object(series))
        return;
    if (json_int(series, "count", 0) < 2)
        spot_invalid_text(r, SPOT(at, "count"), "", "should be at least 2");
    if (!has_time(series, "lastObservedTime"))
        spot_required(r, SPOT(at, "lastObservedTime"), "");
}

/* Fields of the older form of events must be unset. */
static void validate_unset(const json_t *event, struct refusal *r)
{
    if (has_time(event, "firstTimestamp"))
        spot_invalid_text(r, SPOT(NULL, "firstTimestamp"), "", "needs to be unset");
    if (has_time(event, "lastTimestamp"))
        spot_invalid_text(r, SPOT(NULL, "lastTimestamp"), "", "needs to be unset");
    if (json_int(event, "count", 0) != 0)
        spot_invalid_text(r, SPOT(NULL, "count"), "", "needs to be unset");
    if (json_object_size(json_object_get(event, "source")) > 0)
        spot_invalid_text(r, SPOT(NULL, "source"), "", "needs to be unset");
}

/* Values of the older form that stand for nothing. */
static bool is_nothing(const json_t *value)
{
    return !value || json_is_null(value);
}

static void validate_fixed(const json_t *before, const json_t *after, struct refusal *r)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        const json_t *was = json_object_get(before, fixed[i]),
                     *is = json_object_get(after, fixed[i]);
        if (was != is && !(is_nothing(was) && is_nothing(is)) && !json_equal(was, is))
            spot_invalid(r, SPOT(NULL, fixed[i]), is, "field is immutable");
    }
}

static void validate_type(const json_t *event, struct refusal *r)
{
    const char *type = json_str_or_empty(event, "type");
    if (!str_eq(type, "Normal") && !str_eq(type, "Warning"))
        spot_invalid_text(r, SPOT(NULL, "type"), "", "has invalid value: %s", type);
}

void validate_core_event(const json_t *before, const json_t *after, struct refusal *r)
{
    (void) before;
    validate_namespace(after, r);
    if (has_time(after, "eventTime"))
        validate_texts(after, "reportingComponent", r);
}

void validate_event(const json_t *before, const json_t *after, struct refusal *r)
{
    if (has_time(after, "eventTime"))
        validate_texts(after, "reportingController", r);
    validate_series(json_object_get(after, "series"), r);
    if (before) {
        validate_fixed(before, after, r);
        return;
    }
    if (!has_time(after, "eventTime"))
        spot_required(r, SPOT(NULL, "eventTime"), "");
    validate_type(after, r);
    validate_unset(after, r);
}
