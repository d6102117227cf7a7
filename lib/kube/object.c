#include "kube/object.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"

const char *object_name(const json_t *object)
{
    return json_str_or_empty(object, "metadata.name");
}

const char *object_namespace(const json_t *object)
{
    return json_str_or_empty(object, "metadata.namespace");
}

const char *object_uid(const json_t *object)
{
    return json_str_or_empty(object, "metadata.uid");
}

uint64_t object_rv_parse(const char *text)
{
    uint64_t rv = 0;
    if (!text || *text == '0')
        return 0;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(rv, 10, &rv) ||
            __builtin_add_overflow(rv, (uint64_t) (*p - '0'), &rv))
            return 0;
    }
    return rv;
}

uint64_t object_rv(const json_t *object)
{
    return object_rv_parse(json_str(object, "metadata.resourceVersion"));
}

int64_t object_generation(const json_t *object)
{
    return json_int(object, "metadata.generation", 0);
}

const char *object_label(const json_t *object, const char *key)
{
    return json_key(json_at(object, "metadata.labels"), key);
}

const char *object_annotation(const json_t *object, const char *key)
{
    const json_t *text = json_object_get(json_at(object, "metadata.annotations"), key);
    return json_is_string(text) && json_is_whole(text) ? json_string_value(text) : NULL;
}

int64_t object_time_s(const json_t *object, const char *path)
{
    int64_t us = clock_parse_rfc3339(json_str(object, path));
    return us > 0 ? us / 1000000 : 0;
}

bool object_is_deleting(const json_t *object)
{
    return json_str(object, "metadata.deletionTimestamp") != NULL;
}

bool object_has_finalizer(const json_t *object, const char *finalizer)
{
    return json_has_text(json_at(object, "metadata.finalizers"), finalizer);
}

const json_t *object_controller(const json_t *object)
{
    JSON_EACH (owner, json_at(object, "metadata.ownerReferences"))
        if (json_bool(owner, "controller", false))
            return owner;
    return NULL;
}

static bool is_foreign_spec(const json_t *entry, const char *manager)
{
    bool ours = str_eq(json_str(entry, "manager"), manager) &&
                str_eq(json_str(entry, "operation"), "Apply");
    bool spec = json_object_get(json_at(entry, "fieldsV1"), "f:spec") != NULL;
    return spec && !ours && !json_str(entry, "subresource");
}

json_t *object_managers_without_foreign_spec(const json_t *object, const char *manager)
{
    const json_t *entries = json_at(object, "metadata.managedFields");
    json_t *kept = json_array();
    JSON_EACH (entry, entries)
        if (!is_foreign_spec(entry, manager))
            json_array_append(kept, entry);
    if (json_array_size(kept) < json_array_size(entries))
        return kept;
    json_decref(kept);
    return NULL;
}
