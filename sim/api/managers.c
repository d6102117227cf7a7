#include "sim/api/managers.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/field_set.h"
#include "sim/api/managed.h"

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
    *m = (struct managers){ .items = xcalloc(json_array_size(managed_fields) + 1, sizeof *m->items) };
    size_t i;
    json_t *entry;
    json_array_foreach (managed_fields, i, entry) {
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

/* An applier has one entry for all versions, others one for each. */
static struct manager *find(const struct managers *m, const char *name, const char *operation, const char *api_version,
                            const char *subresource)
{
    for (size_t i = 0; i < m->len; i++) {
        struct manager *o = &m->items[i];
        if (str_eq(o->name, name) && str_eq(o->operation, operation) && str_eq(o->subresource, subresource) &&
            (!is_update(o) || str_eq(o->api_version, api_version)))
            return o;
    }
    return NULL;
}

static struct manager *add(struct managers *m, const struct manager *entry)
{
    m->items = xreallocarray(m->items, m->len + 1, sizeof *m->items);
    m->items[m->len] = *entry;
    return &m->items[m->len++];
}

struct manager *managers_find(const struct managers *m, const struct managed_writer *w, const char *operation)
{
    return find(m, w->manager, operation, w->api_version, w->subresource);
}

struct manager *managers_get(struct managers *m, const struct managed_writer *w, const char *operation)
{
    struct manager *found = managers_find(m, w, operation);
    struct manager fresh = {
        .name = w->manager, .operation = operation, .api_version = w->api_version, .subresource = w->subresource, .time = "",
    };
    return found ? found : add(m, &fresh);
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

static void drop(struct managers *m, struct manager *o)
{
    json_decref(o->fields);
    json_decref(o->entry);
    size_t at = (size_t) (o - m->items);
    memmove(o, o + 1, (m->len - at - 1) * sizeof *o);
    m->len--;
}

static void drop_empty(struct managers *m)
{
    for (size_t i = m->len; i-- > 0;)
        if (!m->items[i].fields)
            drop(m, &m->items[i]);
}

static bool is_before(const struct manager *a, const struct manager *b)
{
    int order = strcmp(a->operation, b->operation);
    order = order ? order : strcmp(a->time, b->time);
    order = order ? order : strcmp(a->name, b->name);
    order = order ? order : strcmp(a->api_version, b->api_version);
    return (order ? order : strcmp(a->subresource, b->subresource)) < 0;
}

static void sort(struct managers *m)
{
    for (size_t i = 1; i < m->len; i++) {
        for (size_t j = i; j > 0 && is_before(&m->items[j], &m->items[j - 1]); j--) {
            struct manager tmp = m->items[j];
            m->items[j] = m->items[j - 1];
            m->items[j - 1] = tmp;
        }
    }
}

/* The oldest Update entry that has an older one of its version, to be put together with that. NULL: each version has but one. */
static struct manager *second_oldest(struct managers *m, struct manager **ret_oldest)
{
    for (size_t i = 0; i < m->len; i++) {
        for (size_t j = 0; j < i; j++) {
            if (is_update(&m->items[i]) && is_update(&m->items[j]) && str_eq(m->items[i].api_version, m->items[j].api_version)) {
                *ret_oldest = &m->items[j];
                return &m->items[i];
            }
        }
    }
    return NULL;
}

static size_t update_count(const struct managers *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->len; i++)
        count += is_update(&m->items[i]);
    return count;
}

void managers_cap(struct managers *m)
{
    drop_empty(m);
    sort(m);
    struct manager *oldest, *next;
    while (update_count(m) > UPDATE_ENTRIES_MAX && (next = second_oldest(m, &oldest))) {
        manager_own(oldest, field_set_union(next->fields, oldest->fields));
        forget_entry(oldest);
        oldest->name = bucket_name;
        oldest->subresource = "";
        oldest->time = next->time;
        drop(m, next);
        sort(m);
    }
}

/* ---- the text */

static json_t *entry_of(const struct manager *m)
{
    if (m->entry)
        return json_incref(m->entry);
    json_t *entry = json_object();
    json_object_set_new(entry, "manager", json_text(m->name));
    json_object_set_new(entry, "operation", json_string(m->operation));
    json_object_set_new(entry, "apiVersion", json_text(m->api_version));
    if (*m->time)
        json_object_set_new(entry, "time", json_text(m->time));
    json_object_set_new(entry, "fieldsType", json_string("FieldsV1"));
    json_object_set(entry, "fieldsV1", m->fields);
    if (*m->subresource)
        json_object_set_new(entry, "subresource", json_string(m->subresource));
    return entry;
}

json_t *managers_write(struct managers *m)
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
