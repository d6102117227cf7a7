#include "sim/actors/daemonset.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/fit.h"

/* Limit of pods created by one sync, as in the real controller. */
enum { BURST = 250 };

struct daemonset {
    struct actors *a;
    struct agenda agenda; /* keys of DaemonSets */
    struct map by_uid;
    /* The same in order of creation. */
    struct daemon **all;
    size_t len, cap;
};

static struct daemon *daemon_new(struct daemonset *c, const json_t *object)
{
    struct daemon *d = xcalloc(1, sizeof *d);
    d->a = c->a;
    d->key = object_key(object);
    d->uid = xstrdup(object_uid(object));
    d->claims = d->history = true;
    map_put(&c->by_uid, d->uid, d);
    c->all = xgrow(c->all, c->len, &c->cap, sizeof *c->all);
    c->all[c->len++] = d;
    for (size_t i = 0; i < api_count(c->a->api, c->a->kinds.node); i++)
        daemon_mark(d, object_name(api_at(c->a->api, c->a->kinds.node, i)));
    return d;
}

static void daemon_free(struct daemon *d)
{
    map_clear_with(&d->nodes, free);
    free(d->dirty);
    json_decref(d->object);
    json_decref(d->spec);
    free(d->key);
    free(d->uid);
    free(d);
}

static void daemon_drop(struct daemonset *c, struct daemon *d)
{
    map_remove(&c->by_uid, d->uid);
    size_t i = 0;
    while (c->all[i] != d)
        i++;
    memmove(&c->all[i], &c->all[i + 1], (--c->len - i) * sizeof(struct daemon *));
    daemon_free(d);
}

/* ---- commits */

static void note_set(struct daemonset *c, const struct api_commit *commit)
{
    struct daemon *d = map_get(&c->by_uid,
                               object_uid(commit->after ? commit->after : commit->before));
    if (!commit->after && d)
        daemon_drop(c, d);
    if (!commit->after)
        return;
    if (!d)
        d = daemon_new(c, commit->after);
    /* The controller's own status writes need no sync. */
    if (commit->before && str_eq(commit->user, DAEMONSET_USER) && *commit->subresource)
        return;
    if (commit->before &&
        json_object_get(commit->before, "spec") != json_object_get(commit->after, "spec")) {
        d->claims = d->history = true;
        json_decref(TAKE(d->spec));
        MAP_EACH (entry, &d->nodes)
            daemon_mark(d, entry->key);
    }
    agenda_note(&c->agenda, d->key);
}

/* The set that controls an object; NULL: none. */
static struct daemon *controller_of(const struct daemonset *c, const json_t *object)
{
    return map_get(&c->by_uid, json_str_or_empty(object_controller(object), "uid"));
}

/* Marks the pod's node for its set. `gone`: a revision may have lost its last pod and exceed the
 * limit. */
static void note_pod_of(struct daemonset *c, const json_t *pod, bool gone)
{
    struct daemon *d = controller_of(c, pod);
    if (!d)
        return;
    const char *node = json_str_or_empty(pod, "spec.nodeName");
    node = *node ? node : fit_pinned_node(json_object_get(pod, "spec"));
    if (node)
        daemon_mark(d, node);
    d->history = d->history || gone;
    agenda_note(&c->agenda, d->key);
}

/* A pod without a controller may be adopted by a set in its namespace. */
static void note_orphan(struct daemonset *c, const json_t *pod)
{
    for (size_t i = 0; i < c->len; i++) {
        const json_t *set = object_of_key(c->a, c->a->kinds.daemonset, c->all[i]->key);
        if (!set || !str_eq(object_namespace(set), object_namespace(pod)) ||
            !fit_labels(json_at(set, "spec.selector"), pod))
            continue;
        c->all[i]->claims = true;
        agenda_note(&c->agenda, c->all[i]->key);
    }
}

static void daemonset_note_pod(struct daemonset *c, const struct api_commit *commit)
{
    if (commit->before &&
        (!commit->after || json_at(commit->before, "metadata.ownerReferences") !=
                               json_at(commit->after, "metadata.ownerReferences")))
        note_pod_of(c, commit->before, !commit->after);
    if (!commit->after)
        return;
    if (!object_controller(commit->after)) {
        note_orphan(c, commit->after);
        return;
    }
    struct daemon *d = controller_of(c, commit->after);
    if (d && commit->before &&
        !json_equal(json_at(commit->before, "metadata.labels"),
                    json_at(commit->after, "metadata.labels")))
        d->claims = true;
    note_pod_of(c, commit->after, false);
}

static void note_node(struct daemonset *c, const struct api_commit *commit)
{
    const json_t *before = commit->before, *after = commit->after;
    bool news = !before || !after ||
                !json_equal(json_at(before, "metadata.labels"),
                            json_at(after, "metadata.labels")) ||
                !json_equal(json_object_get(before, "spec"), json_object_get(after, "spec"));
    for (size_t i = 0; news && i < c->len; i++) {
        daemon_mark(c->all[i], object_name(after ? after : before));
        /* Like the real controller, it does not sync if a node is deleted or only stops accepting
         * pods; a later sync finds out. */
        if (after && daemon_node_is_news(c->all[i], after))
            agenda_note(&c->agenda, c->all[i]->key);
    }
}

static void daemonset_commit(void *self, const struct api_commit *commit)
{
    struct daemonset *c = self;
    if (commit->kind == c->a->kinds.daemonset) {
        note_set(c, commit);
    } else if (commit->kind == c->a->kinds.pod) {
        daemonset_note_pod(c, commit);
    } else if (commit->kind == c->a->kinds.node) {
        note_node(c, commit);
    } else if (commit->kind == c->a->kinds.revision && !str_eq(commit->user, DAEMONSET_USER)) {
        struct daemon *d = controller_of(c, commit->before ? commit->before : commit->after);
        if (!d)
            return;
        d->history = true;
        agenda_note(&c->agenda, d->key);
    }
}

/* ---- a sync of one set */

/* Adopts matching pods without a controller, and releases pods that no longer match. */
static void claim_pods(struct daemon *d)
{
    const struct actors *a = d->a;
    const json_t *selector = json_at(d->object, "spec.selector");
    CLEANUP_JSON json_t *own = index_copy(a->index, a->kinds.pod, d->uid);
    JSON_EACH (mine, own)
        if (is_controlled_by(mine, d->uid) && !fit_labels(selector, mine))
            object_release(d->a, DAEMONSET_USER, a->kinds.pod, mine, d->uid);
    CLEANUP_JSON json_t *selected = pods_selected(a, object_namespace(d->object), selector);
    JSON_EACH (pod, selected)
        if (!object_controller(pod) && !object_is_deleting(pod))
            object_adopt(d->a, DAEMONSET_USER, a->kinds.pod, pod,
                         owner_reference(a->kinds.daemonset, d->object));
    d->claims = false;
}

static json_t *count_or_null(int64_t count)
{
    return count ? json_integer(count) : json_null();
}

/* Optional counts are left out if they are 0. */
static void daemonset_write_status(struct daemon *d)
{
    const struct daemon_sum *s = &d->sum;
    json_t *status = json_pack(
        "{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:I}", "currentNumberScheduled",
        (json_int_t) s->current, "desiredNumberScheduled", (json_int_t) s->desired,
        "numberMisscheduled", (json_int_t) s->misscheduled, "numberReady", (json_int_t) s->ready,
        "numberAvailable", count_or_null(s->available), "numberUnavailable",
        count_or_null(s->desired - s->available), "updatedNumberScheduled",
        count_or_null(s->updated), "observedGeneration", (json_int_t) object_generation(d->object));
    object_set_status(d->a, DAEMONSET_USER, d->a->kinds.daemonset, d->object, status);
}

static void sync(struct daemon *d)
{
    d->again_at_ms = -1;
    d->burst = BURST;
    d->acted = d->refused = false;
    if (d->history)
        daemon_sync_history(d);
    if (d->claims)
        claim_pods(d);
    daemon_sync_nodes(d);
    /* The rollout must first see the effects of changes made now. */
    if (!d->acted && !str_eq(json_str(d->object, "spec.updateStrategy.type"), "OnDelete"))
        daemon_roll(d);
    daemonset_write_status(d);
}

static void daemonset_look(void *self, const char *key)
{
    struct daemonset *c = self;
    json_t *object = object_of_key(c->a, c->a->kinds.daemonset, key);
    struct daemon *d = object ? map_get(&c->by_uid, object_uid(object)) : NULL;
    if (!d)
        return;
    json_decref(d->object);
    d->object = json_incref(object);
    if (object_is_deleting(d->object) || json_object_size(json_at(d->object, "spec.selector")) == 0)
        return;
    sync(d);
    if (d->refused)
        agenda_retry(&c->agenda, key);
    else
        agenda_succeeded(&c->agenda, key);
    if (d->again_at_ms >= 0)
        agenda_at(&c->agenda, key, d->again_at_ms);
}

static void daemonset_end(void *self)
{
    struct daemonset *c = self;
    for (size_t i = 0; i < c->len; i++)
        daemon_free(c->all[i]);
    free(c->all);
    map_clear(&c->by_uid);
}

const struct actor daemonset_actor = {
    .size = sizeof(struct daemonset),
    .agendas = { AGENDA(struct daemonset, agenda, "daemonset", controller, daemonset_look) },
    .commit = daemonset_commit,
    .end = daemonset_end,
};
