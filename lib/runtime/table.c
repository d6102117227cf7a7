#include "runtime/table.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

void table_init(struct table *t, const struct table_ops *ops)
{
    *t = (struct table){ .ops = *ops };
}

void table_clear(struct table *t)
{
    MAP_EACH (e, &t->records)
        t->ops.free(t->ops.arg, e->value);
    map_clear(&t->records);
}

struct record *table_get(const struct table *t, const char *key)
{
    return map_get(&t->records, key);
}

static void table_drop(struct table *t, struct record *r)
{
    map_remove(&t->records, r->key);
    t->ops.changed(t->ops.arg, r, NULL);
    t->ops.free(t->ops.arg, r);
}

/* Replaces an old record by a new one (either may be NULL). */
static void table_replace(struct table *t, struct record *before, struct record *after)
{
    if (!after) {
        if (before)
            table_drop(t, before);
        return;
    }
    if (before && record_same_uid(before, after) && t->ops.same(t->ops.arg, before, after)) {
        before->rv = after->rv;
        before->seen = after->seen;
        before->written = after->written;
        t->ops.free(t->ops.arg, after);
        return;
    }
    map_put(&t->records, after->key, after);
    t->ops.changed(t->ops.arg, before, after);
    if (before)
        t->ops.free(t->ops.arg, before);
}

/* Whether the held record is newer than the object, of the same incarnation or not: all versions
 * of a resource are ordered. */
static bool is_older(const struct record *held, const json_t *object)
{
    uint64_t rv = object_rv(object);
    return held && rv && held->rv && rv < held->rv;
}

/* Stores an object; `seen` and `written` are for the new record. */
static void table_put(struct table *t, struct record *held, const json_t *object, uint32_t seen,
                      uint32_t written)
{
    struct record *fresh = t->ops.project(t->ops.arg, object);
    if (fresh) {
        fresh->rv = object_rv(object);
        fresh->seen = seen;
        fresh->written = written;
    }
    table_replace(t, held, fresh);
}

/* Whether our own write brought the record during the list: only that can be newer than the
 * list. A list shows the newest state at its start. If it is older than an earlier record, the
 * server's history was restored. */
static bool written_meanwhile(const struct table *t, const struct record *r)
{
    return r && r->written == t->list;
}

void table_list_begin(struct table *t)
{
    t->list++;
    t->keeps = false;
}

bool table_knows(const struct table *t, const char *key, const char *uid)
{
    const struct record *held = table_get(t, key);
    return held && str_eq(RECORD_UID(held), uid);
}

bool table_list_keep(struct table *t, const char *key, const char *uid)
{
    bool known = table_knows(t, key, uid);
    if (known)
        table_get(t, key)->seen = t->list;
    return known;
}

void table_list_keep_all(struct table *t)
{
    t->keeps = true;
}

void table_list_item(struct table *t, const json_t *object)
{
    CLEANUP_FREE char *key = record_key(object);
    struct record *held = table_get(t, key);
    if (written_meanwhile(t, held) && is_older(held, object))
        held->seen = t->list;
    else
        table_put(t, held, object, t->list, 0);
}

bool table_list_text(struct table *t, const char *text, size_t len)
{
    struct table_reading r;
    if (!t->read || !t->read(t->ops.arg, text, len, &r))
        return false;
    struct record *fresh = r.record, *held = table_get(t, r.key);
    if (!fresh)
        return !held;
    fresh->seen = t->list;
    if (written_meanwhile(t, held) && fresh->rv && fresh->rv < held->rv) {
        held->seen = t->list;
        t->ops.free(t->ops.arg, fresh);
    } else {
        table_replace(t, held, fresh);
    }
    return true;
}

void table_list_end(struct table *t, uint64_t rv)
{
    /* Collected first, since drop() changes the map. */
    size_t n = 0;
    CLEANUP_FREE struct record **gone = xcalloc(t->records.len, sizeof *gone);
    MAP_EACH (e, &t->records) {
        struct record *r = e->value;
        if (!t->keeps && r->seen != t->list && !(written_meanwhile(t, r) && rv && r->rv > rv))
            gone[n++] = r;
    }
    for (size_t i = 0; i < n; i++)
        table_drop(t, gone[i]);
    t->rv = rv;
    t->synced = true;
}

void table_bookmark(struct table *t, uint64_t rv)
{
    if (rv > t->rv)
        t->rv = rv;
}

void table_event(struct table *t, const json_t *object, bool deleted)
{
    table_bookmark(t, object_rv(object));
    CLEANUP_FREE char *key = record_key(object);
    struct record *held = table_get(t, key);
    if (!deleted && !is_older(held, object))
        table_put(t, held, object, 0, 0);
    else if (deleted && held && str_eq(RECORD_UID(held), object_uid(object)))
        table_drop(t, held);
}

/* The held record if the event is not older and its object differs from the record's at most in
 * version and labels; NULL: another event. */
static struct record *held_of_frame(const struct table *t, const struct frame *f)
{
    uint64_t rv = object_rv_parse(f->rv);
    struct record *held = t->hash_of ? table_get(t, f->key) : NULL;
    return held && rv && rv >= held->rv && t->hash_of(held)->rest == f->hash.rest ? held : NULL;
}

/* The record follows from an event of this version. */
static void take_version(struct table *t, struct record *r, uint64_t rv)
{
    table_bookmark(t, rv);
    r->rv = rv;
    r->seen = r->written = 0;
}

static bool table_misses(const struct table *t, const char *text, size_t len, const char *key)
{
    return !table_get(t, key) && !t->matters(t->ops.arg, text, len);
}

bool table_list_passes(const struct table *t, const char *text, size_t len)
{
    struct frame f;
    return t->matters && frame_name_object(text, len, &f) && table_misses(t, text, len, f.key);
}

bool table_event_passes(struct table *t, const char *text, size_t len,
                        char ret_rv[static FRAME_RV_MAX])
{
    struct frame f;
    if (!t->matters || !frame_name(text, len, &f) || !object_rv_parse(f.rv) ||
        !table_misses(t, text, len, f.key))
        return false;
    table_bookmark(t, object_rv_parse(f.rv));
    memcpy(ret_rv, f.rv, FRAME_RV_MAX);
    return true;
}

bool table_event_repeats(struct table *t, const struct frame *f)
{
    struct record *held = held_of_frame(t, f);
    if (!held || t->hash_of(held)->labels != f->hash.labels)
        return false;
    take_version(t, held, object_rv_parse(f->rv));
    return true;
}

bool table_event_relabels(struct table *t, const struct frame *f)
{
    struct record *held = t->relabelled ? held_of_frame(t, f) : NULL;
    CLEANUP_JSON json_t *labels = held && f->labels
                                      ? json_parse_stored(f->labels, f->labels_len, NULL)
                                      : NULL;
    if (!json_is_object(labels))
        return false;
    struct record *fresh = t->relabelled(t->ops.arg, held, labels);
    take_version(t, fresh, object_rv_parse(f->rv));
    *t->hash_of(fresh) = f->hash;
    *t->hash_of(held) = f->hash; /* it may stay */
    table_replace(t, held, fresh);
    return true;
}

void table_event_hash(struct table *t, const struct frame *f)
{
    struct record *held = t->hash_of ? table_get(t, f->key) : NULL;
    if (held && held->rv && held->rv == object_rv_parse(f->rv))
        *t->hash_of(held) = f->hash;
}

bool table_written(struct table *t, const json_t *object)
{
    uint64_t rv = object_rv(object);
    /* The watch has passed this version: an overtaken response must not restore a deleted
     * object. */
    if (!t->synced || !rv || rv <= t->rv)
        return false;
    CLEANUP_FREE char *key = record_key(object);
    struct record *held = table_get(t, key);
    if (is_older(held, object))
        return false;
    table_put(t, held, object, held ? held->seen : 0, t->list);
    return table_get(t, key) != held; /* an equal record stays */
}

bool table_listed(struct table *t, const json_t *object, uint64_t list_rv)
{
    if (table_written(t, object))
        return true;
    CLEANUP_FREE char *key = record_key(object);
    if (!t->synced || !list_rv || table_get(t, key))
        return false;
    struct record *fresh = t->ops.project(t->ops.arg, object);
    bool kept = fresh != NULL;
    if (kept)
        t->ops.free(t->ops.arg, fresh);
    if (kept && list_rv >= t->rv)
        table_put(t, NULL, object, 0, t->list);
    return kept;
}
