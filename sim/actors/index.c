#include "sim/actors/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/fit.h"

struct index {
    const struct kind *pods;
    struct map objects; /* by uid */
    struct map homes;   /* sets by the node's name */
    struct map owners;  /* sets by the owner's uid */
    struct amount_names names;
};

static const struct index_set empty;

struct index *index_new(void)
{
    struct index *ix = xcalloc(1, sizeof *ix);
    ix->pods = kind_named("pods");
    amount_names_init(&ix->names);
    return ix;
}

static struct index_set *index_set_of(struct map *sets, const char *key)
{
    return MAP_MAKE(struct index_set, key, sets, key);
}

static void set_free(struct index_set *set)
{
    free(set->items);
    free(set);
}

static void set_add(struct index_set *set, struct index_object *o)
{
    set->items = xgrow(set->items, set->len, &set->cap, sizeof *set->items);
    set->items[set->len++] = o;
}

/* Removes an object; an empty set is freed. */
static void set_remove(struct map *sets, struct index_set *set, const struct index_object *o)
{
    size_t i = set->len;
    while (i > 0 && set->items[i - 1] != o)
        i--;
    if (i > 0) {
        memmove(&set->items[i - 1], &set->items[i], (set->len - i) * sizeof(struct index_object *));
        set->len--;
    }
    if (set->len == 0) {
        map_remove(sets, set->key);
        set_free(set);
    }
}

static bool same_owners(const json_t *a, const json_t *b)
{
    const json_t *x = json_at(a, "metadata.ownerReferences"),
                 *y = json_at(b, "metadata.ownerReferences");
    return x == y || json_equal(x, y) || json_array_size(x) + json_array_size(y) == 0;
}

static void leave_owners(struct index *ix, struct index_object *o)
{
    for (size_t i = 0; i < o->under_count; i++)
        set_remove(&ix->owners, o->under[i], o);
    free(o->under);
    o->under = NULL;
    o->under_count = 0;
}

static void join_owners(struct index *ix, struct index_object *o)
{
    const json_t *references = json_at(o->object, "metadata.ownerReferences");
    if (json_array_size(references) > 0)
        o->under = xcalloc(json_array_size(references), sizeof *o->under);
    JSON_EACH (reference, references) {
        struct index_set *set = index_set_of(&ix->owners, json_str_or_empty(reference, "uid"));
        set_add(set, o);
        o->under[o->under_count++] = set;
    }
}

static void leave_home(struct index *ix, struct index_object *o)
{
    if (!o->on)
        return;
    if (o->counts)
        amounts_add(&o->on->used, &o->requests, -1);
    set_remove(&ix->homes, o->on, o);
    o->on = NULL;
}

static void join_home(struct index *ix, struct index_object *o)
{
    if (!o->home)
        return;
    o->on = index_set_of(&ix->homes, o->home);
    set_add(o->on, o);
    if (o->counts)
        amounts_add(&o->on->used, &o->requests, 1);
}

static void read_names(struct index_object *o)
{
    const json_t *controller = object_controller(o->object);
    o->uid = object_uid(o->object);
    o->controller = controller ? json_str(controller, "uid") : NULL;
}

static void read_place(struct index_object *o)
{
    const json_t *spec = json_object_get(o->object, "spec");
    const char *node = json_str(spec, "nodeName");
    o->bound = node && *node;
    o->home = o->bound ? node : fit_pinned_node(spec);
}

static void read_requests(struct index *ix, struct index_object *o)
{
    o->counts = o->bound && !pod_is_finished(o->object);
    o->requests = amounts_of_pod(&ix->names, o->object);
}

/* A pod's requests and node rarely change, its status often. */
static bool same_pod(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "spec"), json_object_get(b, "spec")) &&
           pod_is_finished(a) == pod_is_finished(b);
}

static void update(struct index *ix, struct index_object *o, json_t *object)
{
    json_t *old = o->object;
    bool owners_stay = same_owners(old, object);
    bool pod_stays = o->kind != ix->pods || same_pod(old, object);
    if (!owners_stay)
        leave_owners(ix, o);
    if (!pod_stays)
        leave_home(ix, o);
    o->object = json_incref(object);
    /* The map's key is borrowed from the object. */
    read_names(o);
    map_put(&ix->objects, o->uid, o);
    if (!owners_stay)
        join_owners(ix, o);
    if (o->kind == ix->pods)
        read_place(o);
    if (!pod_stays) {
        read_requests(ix, o);
        join_home(ix, o);
    }
    json_decref(old);
}

static void index_add(struct index *ix, const struct kind *kind, json_t *object)
{
    struct index_object *o = xcalloc(1, sizeof *o);
    o->kind = kind;
    update(ix, o, object);
}

static void index_drop(struct index *ix, struct index_object *o)
{
    map_remove(&ix->objects, o->uid);
    leave_home(ix, o);
    leave_owners(ix, o);
    json_decref(o->object);
    free(o);
}

void index_commit(struct index *ix, const struct api_commit *c)
{
    const json_t *any = c->after ? c->after : c->before;
    struct index_object *o = map_get(&ix->objects, object_uid(any));
    if (o && !c->after)
        index_drop(ix, o);
    else if (o)
        update(ix, o, c->after);
    else if (c->after && (c->kind == ix->pods ||
                          json_array_size(json_at(c->after, "metadata.ownerReferences")) > 0))
        index_add(ix, c->kind, c->after);
}

const struct index_set *index_pods_on(const struct index *ix, const char *node)
{
    const struct index_set *set = map_get(&ix->homes, node);
    return set ? set : &empty;
}

const struct index_set *index_dependents(const struct index *ix, const char *uid)
{
    const struct index_set *set = map_get(&ix->owners, uid);
    return set ? set : &empty;
}

json_t *index_copy(const struct index *ix, const struct kind *k, const char *uid)
{
    const struct index_set *set = index_dependents(ix, uid);
    json_t *out = json_array();
    for (size_t i = 0; i < set->len; i++)
        if (set->items[i]->kind == k)
            json_array_append(out, set->items[i]->object);
    return out;
}

struct amount_names *index_names(struct index *ix)
{
    return &ix->names;
}

void index_free(struct index *ix)
{
    struct map *const sets[] = { &ix->homes, &ix->owners };
    MAP_EACH (entry, &ix->objects) {
        struct index_object *o = entry->value;
        json_decref(o->object);
        free(o->under);
        free(o);
    }
    map_clear(&ix->objects);
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        MAP_EACH (entry, sets[i])
            set_free(entry->value);
        map_clear(sets[i]);
    }
    amount_names_clear(&ix->names);
    free(ix);
}
