#include "sim/api/event_view.h"

#include "base/json.h"
#include "base/str.h"

/* Fields that have two names. */
static const struct field_names {
    const char *core;
    const char *events;
} names[] = {
    { "involvedObject", "regarding" },
    { "message", "note" },
    { "reportingComponent", "reportingController" },
    { "source", "deprecatedSource" },
    { "firstTimestamp", "deprecatedFirstTimestamp" },
    { "lastTimestamp", "deprecatedLastTimestamp" },
    { "count", "deprecatedCount" },
};

static bool is_view(const struct kind *k)
{
    return str_eq(k->group, "events.k8s.io");
}

const struct kind *event_stored_kind(const struct kind *k)
{
    return is_view(k) ? kind_of("v1", "Event") : k;
}

static const char *renamed(const char *key, bool to_core)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(key, to_core ? names[i].events : names[i].core))
            return to_core ? names[i].core : names[i].events;
    return key;
}

static json_t *convert(const json_t *object, const char *api_version, bool to_core)
{
    json_t *converted = json_object();
    JSON_EACH_MEMBER (key, value, object)
        json_object_set(converted, renamed(key, to_core), value);
    json_object_set_new(converted, "apiVersion", json_string(api_version));
    return converted;
}

json_t *event_view(const struct kind *k, json_t *stored)
{
    return is_view(k) ? convert(stored, kind_api_version(k), false) : json_incref(stored);
}

json_t *event_stored(const struct kind *k, json_t *view)
{
    return is_view(k) ? convert(view, "v1", true) : json_incref(view);
}
