/* Validation of Events, as the API server has it. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/validate.h"
#include "sim/api/validate_name.h"

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

/* An event is where the object is that it is about; about what is in no namespace, in "default". */
static void validate_namespace(const json_t *event, struct refusal *r)
{
    const struct spot involved = { .key = "involvedObject" };
    struct spot at = SPOT(&involved, "namespace");
    const char *about = json_str_or_empty(event, "involvedObject.namespace"),
               *ns = object_namespace(event);
    if (!str_eq(ns, *about ? about : "default"))
        spot_invalid_text(r, &at, about, "does not match event.namespace");
}

/* `by` is what the form calls who reports. */
static void validate_texts(const json_t *event, const char *by, struct refusal *r)
{
    const struct spot controller = { .key = by };
    const char *who = json_str_or_empty(event, "reportingComponent");
    if (!*who)
        spot_required(r, &controller, "");
    validate_qualified_name(who, &controller, r);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        const struct spot at = { .key = limits[i].key };
        size_t n = strlen(json_str_or_empty(event, limits[i].key));
        if (n == 0 && limits[i].required)
            spot_required(r, &at, "");
        else if (n > limits[i].max)
            spot_invalid_text(r, &at, "", "can have at most %zu characters", limits[i].max);
    }
}

static bool has_time(const json_t *event, const char *key)
{
    return *json_str_or_empty(event, key) != '\0';
}

static void validate_series(const json_t *series, struct refusal *r)
{
    const struct spot at = { .key = "series" };
    struct spot count = SPOT(&at, "count"), last = SPOT(&at, "lastObservedTime");
    if (!json_is_object(series))
        return;
    if (json_int(series, "count", 0) < 2)
        spot_invalid_text(r, &count, "", "should be at least 2");
    if (!has_time(series, "lastObservedTime"))
        spot_required(r, &last, "");
}

/* What only the older form of events has. */
static void validate_unset(const json_t *event, struct refusal *r)
{
    const struct spot first = { .key = "firstTimestamp" }, last = { .key = "lastTimestamp" },
                      count = { .key = "count" }, source = { .key = "source" };
    if (has_time(event, "firstTimestamp"))
        spot_invalid_text(r, &first, "", "needs to be unset");
    if (has_time(event, "lastTimestamp"))
        spot_invalid_text(r, &last, "", "needs to be unset");
    if (json_int(event, "count", 0) != 0)
        spot_invalid_text(r, &count, "", "needs to be unset");
    if (json_object_size(json_object_get(event, "source")) > 0)
        spot_invalid_text(r, &source, "", "needs to be unset");
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
        const struct spot at = { .key = fixed[i] };
        if (was != is && !(is_nothing(was) && is_nothing(is)) && !json_equal(was, is))
            spot_invalid(r, &at, is, "field is immutable");
    }
}

static void validate_type(const json_t *event, struct refusal *r)
{
    const struct spot at = { .key = "type" };
    const char *type = json_str_or_empty(event, "type");
    if (!str_eq(type, "Normal") && !str_eq(type, "Warning"))
        spot_invalid_text(r, &at, "", "has invalid value: %s", type);
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
    const struct spot time = { .key = "eventTime" };
    if (has_time(after, "eventTime"))
        validate_texts(after, "reportingController", r);
    validate_series(json_object_get(after, "series"), r);
    if (before) {
        validate_fixed(before, after, r);
        return;
    }
    if (!has_time(after, "eventTime"))
        spot_required(r, &time, "");
    validate_type(after, r);
    validate_unset(after, r);
}
