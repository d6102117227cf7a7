/* The garbage collector: deletes objects without owners; foregroundDeletion waits for dependents,
 * orphan releases them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/objects.h"
#include "sim/api/write.h"

#define USER "system:serviceaccount:kube-system:generic-garbage-collector"
#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"

struct collector {
    struct actors *a;
    struct agenda agenda; /* "<kind's index> namespace/name" */
};

/* An object's owners by state. */
struct owners {
    size_t dangling, waiting;
    json_t *solid_references;
};

static void note(struct collector *g, const struct kind *k, const json_t *object)
{
    CLEANUP_FREE char *key = xasprintf("%zu %s/%s", kind_index(k), object_namespace(object),
                                       object_name(object));
    agenda_note(&g->agenda, key);
}

static void note_dependents(struct collector *g, const char *uid)
{
    const struct index_set *dependents = index_dependents(g->a->index, uid);
    for (size_t i = 0; i < dependents->len; i++)
        note(g, dependents->items[i]->kind, dependents->items[i]->object);
}

/* The object that a reference in namespace `ns` names, with any uid; its kind is NULL if
 * unknown. */
static json_t *named_owner(const struct actors *a, const json_t *reference, const char *ns,
                           const struct kind **ret_kind)
{
    *ret_kind = kind_of(json_str_or_empty(reference, "apiVersion"),
                        json_str_or_empty(reference, "kind"));
    return *ret_kind ? api_get(a->api, *ret_kind, (*ret_kind)->namespaced ? ns : "",
                               json_str_or_empty(reference, "name"))
                     : NULL;
}

/* Wakes owners that wait for their dependents. */
static void note_waiting_owners(struct collector *g, const json_t *object)
{
    JSON_EACH (reference, json_at(object, "metadata.ownerReferences")) {
        const struct kind *k;
        json_t *owner = named_owner(g->a, reference, object_namespace(object), &k);
        if (owner && object_is_deleting(owner) && object_has_finalizer(owner, FOREGROUND))
            note(g, k, owner);
    }
}

static void gc_commit(void *self, const struct api_commit *c)
{
    struct collector *g = self;
    if (!c->after) {
        note_dependents(g, object_uid(c->before));
        note_waiting_owners(g, c->before);
        return;
    }
    const json_t *owners = json_at(c->after, "metadata.ownerReferences"),
                 *before = json_at(c->before, "metadata.ownerReferences");
    if (json_array_size(owners) > 0 && !(before && json_equal(owners, before)))
        note(g, c->kind, c->after);
    if (json_array_size(before) > json_array_size(owners))
        note_waiting_owners(g, c->before);
    if (object_is_deleting(c->after) &&
        (object_has_finalizer(c->after, FOREGROUND) || object_has_finalizer(c->after, ORPHAN)))
        note(g, c->kind, c->after);
}

/* Releases all dependents; each leaves the set. */
static void orphan_dependents(struct collector *g, const char *uid)
{
    const struct index_set *dependents;
    while ((dependents = index_dependents(g->a->index, uid))->len > 0) {
        const struct index_object *o = dependents->items[0];
        if (object_release(g->a, USER, o->kind, o->object, uid) < 0)
            return;
    }
}

static bool blocks(const json_t *dependent, const char *owner_uid)
{
    JSON_EACH (reference, json_at(dependent, "metadata.ownerReferences"))
        if (str_eq(json_str(reference, "uid"), owner_uid) &&
            json_bool(reference, "blockOwnerDeletion", false))
            return true;
    return false;
}

/* Deletes blocking dependents; without any, the object may go. */
static void wait_for_dependents(struct collector *g, const struct kind *k, const json_t *object)
{
    const char *uid = object_uid(object);
    const struct index_set *dependents = index_dependents(g->a->index, uid);
    bool blocked = false;
    for (size_t i = 0; i < dependents->len; i++) {
        if (!blocks(dependents->items[i]->object, uid))
            continue;
        blocked = true;
        if (!object_is_deleting(dependents->items[i]->object))
            note(g, dependents->items[i]->kind, dependents->items[i]->object);
    }
    if (!blocked)
        object_drop_finalizer(g->a, USER, k, object, FOREGROUND);
}

static struct owners look_at_owners(const struct collector *g, const json_t *object)
{
    struct owners o = { .solid_references = json_array() };
    JSON_EACH (reference, json_at(object, "metadata.ownerReferences")) {
        const struct kind *k;
        const json_t *owner = named_owner(g->a, reference, object_namespace(object), &k);
        if (k && (!owner || !str_eq(object_uid(owner), json_str(reference, "uid")))) {
            o.dangling++;
        } else if (owner && object_is_deleting(owner) && object_has_finalizer(owner, FOREGROUND)) {
            o.waiting++;
        } else {
            json_array_append(o.solid_references, reference);
        }
    }
    return o;
}

static enum propagation propagation_of(const struct collector *g, const json_t *object,
                                       const struct owners *o)
{
    if (o->waiting > 0 && index_dependents(g->a->index, object_uid(object))->len > 0)
        return PROPAGATE_FOREGROUND;
    if (object_has_finalizer(object, ORPHAN))
        return PROPAGATE_ORPHAN;
    return object_has_finalizer(object, FOREGROUND) ? PROPAGATE_FOREGROUND : PROPAGATE_BACKGROUND;
}

static void delete (struct collector *g, const struct kind *k, const json_t *object,
                    enum propagation propagation)
{
    const struct write w = { .user = USER,
                             .manager = USER,
                             .verb = API_DELETE,
                             .kind = k,
                             .ns = object_namespace(object),
                             .name = object_name(object),
                             .subresource = "" };
    const struct delete_options options = { .grace_s = -1,
                                            .uid = object_uid(object),
                                            .propagation = propagation };
    write_delete(g->a->api, &w, &options, NULL, NULL, NULL);
}

/* Handles an object with owners. */
static void gc_collect(struct collector *g, const struct kind *k, const json_t *object)
{
    struct owners o = look_at_owners(g, object);
    size_t solid = json_array_size(o.solid_references);
    if (solid > 0 && o.dangling + o.waiting > 0) {
        CLEANUP_JSON json_t *patch = json_pack("{s:{s:s, s:O}}", "metadata", "uid",
                                               object_uid(object), "ownerReferences",
                                               o.solid_references);
        api_merge(g->a->api, USER, k, object_namespace(object), object_name(object), "", patch,
                  NULL);
    } else if (solid == 0 && o.dangling + o.waiting > 0) {
        delete (g, k, object, propagation_of(g, object, &o));
    }
    json_decref(o.solid_references);
}

static void gc_look(void *self, const char *key)
{
    struct collector *g = self;
    char *end;
    const struct kind *k = kind_at((size_t) strtoul(key, &end, 10));
    CLEANUP_JSON json_t *object = json_incref(object_of_key(g->a, k, end + 1));
    if (!object)
        return;
    if (!object_is_deleting(object)) {
        gc_collect(g, k, object);
    } else if (object_has_finalizer(object, ORPHAN)) {
        orphan_dependents(g, object_uid(object));
        object_drop_finalizer(g->a, USER, k, object, ORPHAN);
    } else if (object_has_finalizer(object, FOREGROUND)) {
        wait_for_dependents(g, k, object);
    }
}

const struct actor collector_actor = {
    .size = sizeof(struct collector),
    .agendas = { AGENDA(struct collector, agenda, "collector", collector, gc_look) },
    .commit = gc_commit,
};
