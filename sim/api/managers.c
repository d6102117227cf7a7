#include "sim/api/managers.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "sim/api/field_set.h"

/* As the API server has them. */
enum { UPDATE_ENTRIES_MAX = 10 };
static const char bucket_name[] = "ancient-changes";

static bool is_update(const struct manager *m)
{
    return str_eq(m->operation, "Update");
}

static bool read_entry(struct manager *m, json_t *entry)
{
    const json_t *fields = json_object_get(entry, "fieldsV1");
    *m = (struct manager){
        .name = str_or_empty(json_key(entry, "manager")),
        .operation = json_key(entry, "operation"),
        .api_version = str_or_empty(json_key(entry, "apiVersion")),
        .subresource = str_or_empty(json_key(entry, "subresource")),
        .time = str_or_empty(json_key(entry, "time")),
    };
    bool known = is_update(m) || str_eq(m->operation, "Apply");
    if (!known || !*m->api_version || !str_eq(json_key(entry, "fieldsType"), "FieldsV1"))
        return false;
    m->entry = json_incref(entry);
    m->fields = json_object_size(fields) > 0 ? json_incref((json_t *) fields) : NULL;
    return true;
}

bool managers_read(struct managers *m, const json_t *managed_fields)
{
    *m = (struct managers){ .items = xcalloc(json_array_size(managed_fields) + 1,
                                             sizeof *m->items) };
    JSON_EACH_AT (i, entry, managed_fields) {
        if (!read_entry(&m->items[m->len], entry)) {
            managers_clear(m);
            return false;
        }
        m->len++;
    }
    return true;
}

void managers_clear(struct managers *m)
{
    for (size_t i = 0; i < m->len; i++) {
        json_decref(m->items[i].fields);
        json_decref(m->items[i].entry);
    }
    free(m->items);
    *m = (struct managers){ 0 };
}

/* A manager has one entry for its applies in all versions, and one in each version for its updates.
 */
struct manager *managers_find(const struct managers *m, const struct managed_writer *w,
                              const char *operation)
{
    for (size_t i = 0; i < m->len; i++) {
        struct manager *o = &m->items[i];
        if (str_eq(o->name, w->manager) && str_eq(o->operation, operation) &&
            str_eq(o->subresource, w->subresource) &&
            (!is_update(o) || str_eq(o->api_version, w->api_version)))
            return o;
    }
    return NULL;
}

struct manager *managers_get(struct managers *m, const struct managed_writer *w,
                             const char *operation)
{
    struct manager *found = managers_find(m, w, operation);
    if (found)
        return found;
    m->items = xreallocarray(m->items, m->len + 1, sizeof *m->items);
    m->items[m->len] = (struct manager){
        .name = w->manager,
        .operation = operation,
        .api_version = w->api_version,
        .subresource = w->subresource,
        .time = "",
    };
    return &m->items[m->len++];
}

static void forget_entry(struct manager *m)
{
    json_decref(m->entry);
    m->entry = NULL;
}

void manager_own(struct manager *m, json_t *fields_steal)
{
    if (fields_steal != m->fields)
        forget_entry(m);
    json_decref(m->fields);
    m->fields = fields_steal;
}

void manager_touch(struct manager *m, const char *time)
{
    if (!str_eq(m->time, time))
        forget_entry(m);
    m->time = time;
}

void managers_yield(struct managers *m, const struct field_diff *change, const struct manager *but)
{
    for (size_t i = 0; i < m->len; i++) {
        struct manager *o = &m->items[i];
        if (o == but)
            continue;
        CLEANUP_JSON json_t *kept = field_set_difference(o->fields, change->set);
        manager_own(o, field_set_difference(kept, change->gone));
    }
}

/* ---- the cap */

static void drop_empty(struct managers *m)
{
    size_t left = 0;
    for (size_t i = 0; i < m->len; i++) {
        if (m->items[i].fields)
            m->items[left++] = m->items[i];
        else
            json_decref(m->items[i].entry);
    }
    m->len = left;
}

static int by_age(const void *left, const void *right)
{
    const struct manager *a = left, *b = right;
    int order = strcmp(a->operation, b->operation);
    order = order ? order : strcmp(a->time, b->time);
    order = order ? order : strcmp(a->name, b->name);
    order = order ? order : strcmp(a->api_version, b->api_version);
    return order ? order : strcmp(a->subresource, b->subresource);
}

static void sort(struct managers *m)
{
    qsort(m->items, m->len, sizeof *m->items, by_age);
}

/* The union of these sets, by halves: one after another would copy the growing union each time. New
 * reference. */
static json_t *union_of(const json_t *sets, size_t from, size_t to)
{
    if (to - from == 1)
        return json_incref(json_array_get(sets, from));
    size_t middle = from + (to - from) / 2;
    CLEANUP_JSON json_t *low = union_of(sets, from, middle);
    CLEANUP_JSON json_t *high = union_of(sets, middle, to);
    return field_set_union(high, low);
}

/* Merges the next entry of a version into the first one. `sets` collects their fields by version.
 */
static void put_together(struct manager *first, struct manager *next, json_t *sets)
{
    json_t *list = json_object_get(sets, first->api_version);
    if (!list) {
        list = json_pack("[O]", first->fields);
        json_object_set_new(sets, first->api_version, list);
    }
    json_array_append_new(list, TAKE(next->fields));
    forget_entry(first);
    first->name = bucket_name;
    first->subresource = "";
    first->time = next->time;
}

static size_t update_count(const struct managers *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->len; i++)
        count += is_update(&m->items[i]);
    return count;
}

/* Merges the oldest Update entries until there are no more than the API server keeps. */
static void managers_cap(struct managers *m)
{
    drop_empty(m);
    sort(m);
    CLEANUP(map_clear) struct map firsts = { 0 }; /* the oldest Update entry of each version */
    CLEANUP_JSON json_t *sets = json_object();
    size_t updates = update_count(m);
    for (size_t i = 0; i < m->len && updates > UPDATE_ENTRIES_MAX; i++) {
        struct manager *next = &m->items[i], *first = map_get(&firsts, next->api_version);
        if (!is_update(next))
            continue;
        if (!first) {
            map_put(&firsts, next->api_version, next);
            continue;
        }
        put_together(first, next, sets);
        updates--;
    }
    JSON_EACH_MEMBER (version, list, sets)
        manager_own(map_get(&firsts, version), union_of(list, 0, json_array_size(list)));
    drop_empty(m);
    sort(m);
}

/* ---- the text */

static json_t *entry_of(const struct manager *m)
{
    if (m->entry)
        return json_incref(m->entry);
    return json_pack("{s:o, s:s, s:o, s:o*, s:s, s:O, s:s*}", "manager", json_text(m->name),
                     "operation", m->operation, "apiVersion", json_text(m->api_version), "time",
                     *m->time ? json_text(m->time) : NULL, "fieldsType", "FieldsV1", "fieldsV1",
                     m->fields, "subresource", *m->subresource ? m->subresource : NULL);
}

static json_t *managers_write(struct managers *m)
{
    drop_empty(m);
    if (m->len == 0)
        return NULL;
    sort(m);
    json_t *list = json_array();
    for (size_t i = 0; i < m->len; i++)
        json_array_append_new(list, entry_of(&m->items[i]));
    return list;
}

/* ---- managedFields of an object */

const json_t *tracking_entries(const json_t *object)
{
    return json_object_get(json_object_get(object, "metadata"), "managedFields");
}

const char *const *tracking_resets(const struct merge_root *root, const char *subresource)
{
    return str_eq(subresource, "status") ? root->status_reset : root->reset;
}

void tracking_diff(const struct managed_writer *w, const json_t *before, const json_t *after,
                   struct field_diff *ret)
{
    field_diff(w->root, before, after, ret);
    field_diff_leave_out(ret, tracking_resets(w->root, w->subresource));
}

void tracking_note(struct managers *m, const struct field_diff *change,
                   const struct managed_writer *w)
{
    struct managed_writer writer = *w;
    if (!*str_or_empty(w->manager))
        writer.manager = "unknown";
    /* The writer's own entry keeps the fields that are set again: removing them first would only
     * copy it. */
    struct manager *own = managers_find(m, &writer, "Update");
    managers_yield(m, change, own);
    if (own)
        manager_own(own, field_set_difference(own->fields, change->gone));
    if (change->set) {
        own = managers_get(m, &writer, "Update");
        manager_own(own, field_set_union(own->fields, change->set));
        manager_touch(own, w->time);
    }
    managers_cap(m);
}

void tracking_write(json_t *object, struct managers *m)
{
    json_t *metadata = json_object_get(object, "metadata");
    json_t *entries = managers_write(m);
    if (entries)
        json_object_set_new(metadata, "managedFields", entries);
    else
        json_object_del(metadata, "managedFields");
}
