#include "runtime/table.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

void table_init(struct table *t, const struct table_ops *ops)
{
    *t = (struct table){ .ops = *ops };
}

void table_clear(struct table *t)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&t->records, &cursor)))
        t->ops.free(t->ops.arg, e->value);
    map_clear(&t->records);
}

struct record *table_get(const struct table *t, const char *key)
{
    return map_get(&t->records, key);
}

char *table_key(const json_t *object)
{
    const char *ns = object_namespace(object);
    return *ns ? xasprintf("%s/%s", ns, object_name(object)) : xstrdup(object_name(object));
}

static void drop(struct table *t, struct record *r)
{
    map_remove(&t->records, r->key);
    t->ops.changed(t->ops.arg, r, NULL);
    t->ops.free(t->ops.arg, r);
}

/* Puts a new record in place of an old one (either may be NULL). */
static void replace(struct table *t, struct record *before, struct record *after)
{
    if (!after) {
        if (before)
            drop(t, before);
        return;
    }
    if (before && str_eq(before->uid, after->uid) && t->ops.same(t->ops.arg, before, after)) {
        before->rv = after->rv;
        before->seen = after->seen;
        t->ops.free(t->ops.arg, after);
        return;
    }
    map_put(&t->records, after->key, after);
    t->ops.changed(t->ops.arg, before, after);
    if (before)
        t->ops.free(t->ops.arg, before);
}

/* Whether what we hold is newer than the object, of the same incarnation or not: versions are ordered over all of a resource. */
static bool is_older(const struct record *held, const json_t *object)
{
    uint64_t rv = object_rv(object);
    return held && rv && held->rv && rv < held->rv;
}

/* Takes an object; `list` is the list that brought it, 0 when none did: only lists say what is still there at their end. */
static void put(struct table *t, const json_t *object, uint32_t list)
{
    CLEANUP_FREE char *key = table_key(object);
    struct record *held = table_get(t, key);
    if (is_older(held, object)) {
        held->seen = list ? list : held->seen;
        return;
    }
    struct record *fresh = t->ops.project(t->ops.arg, object);
    if (fresh) {
        fresh->rv = object_rv(object);
        fresh->seen = list || !held ? list : held->seen;
    }
    replace(t, held, fresh);
}

void table_list_begin(struct table *t)
{
    t->list++;
}

void table_list_item(struct table *t, const json_t *object)
{
    put(t, object, t->list);
}

void table_list_end(struct table *t, uint64_t rv)
{
    /* Collected first: dropping changes the map. A record that is newer than the list came from a write of ours: it stays. */
    size_t cursor = 0, n = 0;
    const struct map_entry *e;
    CLEANUP_FREE struct record **gone = xcalloc(t->records.len, sizeof *gone);
    while ((e = map_next(&t->records, &cursor))) {
        struct record *r = e->value;
        if (r->seen != t->list && !(rv && r->rv > rv))
            gone[n++] = r;
    }
    for (size_t i = 0; i < n; i++)
        drop(t, gone[i]);
    if (rv > t->rv)
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
    if (!deleted) {
        put(t, object, 0);
        return;
    }
    CLEANUP_FREE char *key = table_key(object);
    struct record *held = table_get(t, key);
    if (held && str_eq(held->uid, object_uid(object)))
        drop(t, held);
}

void table_written(struct table *t, const json_t *object)
{
    uint64_t rv = object_rv(object);
    /* What the watch has passed already it has also brought: an answer that was overtaken must not raise the dead. */
    if (!t->synced || !rv || rv <= t->rv)
        return;
    put(t, object, 0);
}
