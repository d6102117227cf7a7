#include "sim/api/share.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/api/draft.h"

/* Then all are forgotten: what only one object has takes memory for nothing. */
enum { PARTS_MAX = 8192 };

struct part {
    json_t *value;
    char text[];
};

static void part_free(void *value)
{
    struct part *p = value;
    json_decref(p->value);
    free(p);
}

void share_clear(struct map *parts)
{
    map_clear_with(parts, part_free);
}

void share_forget_unused(struct map *parts)
{
    struct part **unused = xcalloc(parts->len + 1, sizeof *unused);
    size_t len = 0;
    MAP_EACH (entry, parts) {
        struct part *p = entry->value;
        if (p->value->refcount == 1)
            unused[len++] = p;
    }
    for (size_t i = 0; i < len; i++)
        part_free(map_remove(parts, unused[i]->text));
    free(unused);
}

/* The first tree that is equal to this one. Borrowed. */
static json_t *first_equal(struct map *parts, json_t *value)
{
    CLEANUP_FREE char *text = json_compact(value);
    struct part *p = map_get(parts, text);
    if (p)
        return p->value;
    if (parts->len == PARTS_MAX)
        share_clear(parts);
    p = MAP_MAKE(struct part, text, parts, text);
    p->value = json_incref(value);
    return value;
}

static void share_member(struct map *parts, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        return;
    json_t *equal = first_equal(parts, value);
    if (equal != value)
        json_object_set(object, key, equal);
}

/* Members whose names are not known; a list of objects is shared object by object. */
static void share_members(struct map *parts, json_t *object)
{
    JSON_EACH_MEMBER (key, value, object) {
        json_t *equal = json_object_size(value) + json_array_size(value) ? first_equal(parts, value)
                                                                         : value;
        if (equal != value)
            json_object_iter_set(object, json_object_key_to_iter(key), equal);
    }
}

/* A tree equal to `after` with as much as possible of its last state. Others may have `after`, so
 * what changes is a copy. New reference. */
static json_t *with_parts_of(json_t *before, json_t *after)
{
    if (json_equal(before, after))
        return json_incref(before);
    if (json_typeof(before) != json_typeof(after))
        return json_incref(after);
    struct draft kept = draft_of(after);
    JSON_EACH_MEMBER (key, value, after) {
        json_t *was = json_object_get(before, key);
        if (was)
            draft_set(&kept, key, with_parts_of(was, value));
    }
    JSON_EACH_AT (i, item, after) {
        json_t *was = json_array_get(before, i);
        if (was)
            draft_set_item(&kept, i, with_parts_of(was, item));
    }
    return draft_end(&kept);
}

static void share_last_state(const json_t *before, json_t *object)
{
    JSON_EACH_MEMBER (key, value, object) {
        json_t *was = json_object_get(before, key);
        if (was)
            json_object_iter_set_new(object, json_object_key_to_iter(key),
                                     with_parts_of(was, value));
    }
}

/* What the Events of a pod, of a component or of a second have in common. Few have their message or
 * name in common. */
static void share_event(struct map *parts, json_t *event)
{
    static const char *const members[] = {
        "apiVersion",     "kind",         "involvedObject",     "reason",
        "type",           "source",       "reportingComponent", "reportingInstance",
        "firstTimestamp", "lastTimestamp"
    };
    json_t *metadata = json_object_get(event, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        share_member(parts, event, members[i]);
    share_member(parts, metadata, "namespace");
    share_member(parts, metadata, "creationTimestamp");
    share_member(parts, metadata, "managedFields");
}

/* Whether an entry has the same tree as one of the last state. */
static bool has_fields(const json_t *before, const json_t *fields)
{
    JSON_EACH (entry, json_at(before, "metadata.managedFields"))
        if (json_object_get(entry, "fieldsV1") == fields)
            return true;
    return false;
}

void share_parts(struct map *parts, const json_t *before, json_t *object)
{
    static const char *const containers[] = { "spec.containers", "spec.initContainers" };
    if (before)
        share_last_state(before, object);
    else if (str_eq(json_key(object, "kind"), "Event"))
        share_event(parts, object);
    JSON_EACH (entry, json_at(object, "metadata.managedFields"))
        if (!has_fields(before, json_object_get(entry, "fieldsV1")))
            share_member(parts, entry, "fieldsV1");
    if (before)
        return;
    share_member(parts, json_object_get(object, "metadata"), "labels");
    share_member(parts, json_object_get(object, "metadata"), "ownerReferences");
    for (size_t i = 0; i < ARRAY_LEN(containers); i++)
        JSON_EACH (container, json_at(object, containers[i]))
            share_members(parts, container);
    share_members(parts, json_object_get(object, "spec"));
}
