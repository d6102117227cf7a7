#include "sim/actors/replicaset.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/events.h"

#define USER "system:serviceaccount:kube-system:replicaset-controller"

enum { PODS_PER_LOOK = 500 };

/* Active pods of a set: neither ended nor terminating. Updated with each commit, because a set may
 * have thousands. */
struct tally {
    int64_t active, ready;
    char uid[]; /* of the set */
};

struct replicaset_controller {
    struct actors *a;
    struct agenda sets, deployments;
    struct map tallies; /* by uid */
};

static struct tally *tally_of(struct replicaset_controller *r, const char *uid)
{
    return MAP_MAKE(struct tally, uid, &r->tallies, uid);
}

static bool is_active(const json_t *pod)
{
    return !pod_is_finished(pod) && !object_is_deleting(pod);
}

/* Adds (1) or removes (-1) a pod in the tallies of its owners. */
static void count_pod(struct replicaset_controller *r, const json_t *pod, int by)
{
    if (!pod || !is_active(pod))
        return;
    JSON_EACH (owner, json_at(pod, "metadata.ownerReferences")) {
        if (!str_eq(json_str(owner, "kind"), "ReplicaSet"))
            continue;
        struct tally *t = tally_of(r, json_str_or_empty(owner, "uid"));
        t->active += by;
        t->ready += condition_is_true(pod, "Ready") ? by : 0;
    }
}

/* Queues the controller of an object if it is of this kind. */
static void note_owner(struct agenda *g, const char *kind, const json_t *object)
{
    const json_t *controller = object_controller(object);
    if (!controller || !str_eq(json_str(controller, "kind"), kind))
        return;
    CLEANUP_FREE char *key = xasprintf("%s/%s", object_namespace(object),
                                       json_str_or_empty(controller, "name"));
    agenda_note(g, key);
}

/* A Deployment with the strategy Recreate waits for the end of old pods. */
static void note_end_of_pod(struct replicaset_controller *r, const json_t *pod)
{
    const json_t *controller = object_controller(pod);
    const json_t *set = str_eq(json_str(controller, "kind"), "ReplicaSet")
                            ? api_get(r->a->api, r->a->kinds.replicaset, object_namespace(pod),
                                      json_str_or_empty(controller, "name"))
                            : NULL;
    if (set)
        note_owner(&r->deployments, "Deployment", set);
}

static void replicaset_commit(void *self, const struct api_commit *c)
{
    struct replicaset_controller *r = self;
    const json_t *any = c->after ? c->after : c->before;
    if (c->kind == r->a->kinds.pod) {
        count_pod(r, c->before, -1);
        count_pod(r, c->after, 1);
        note_owner(&r->sets, "ReplicaSet", any);
        if (!c->after)
            note_end_of_pod(r, any);
    }
    if (c->kind == r->a->kinds.replicaset) {
        agenda_note_object(&r->sets, any);
        note_owner(&r->deployments, "Deployment", any);
    }
    if (c->kind == r->a->kinds.deployment)
        agenda_note_object(&r->deployments, any);
}

/* Order of deletion: unbound pods, then unready ones, then the youngest. */
static int worth(const json_t *pod)
{
    return (*json_str_or_empty(pod, "spec.nodeName") ? 1 : 0) +
           (condition_is_true(pod, "Ready") ? 2 : 0);
}

static size_t least_worth(const json_t *pods)
{
    const json_t *least = NULL;
    size_t place = 0;
    JSON_EACH_AT (i, pod, pods) {
        if (least && worth(pod) >= worth(least) &&
            (worth(pod) > worth(least) || pod_compare_age(pod, least) <= 0))
            continue;
        least = pod;
        place = i;
    }
    return place;
}

/* The active pods. New reference. */
static json_t *active_pods(const struct actors *a, const json_t *set)
{
    CLEANUP_JSON json_t *all = index_copy(a->index, a->kinds.pod, object_uid(set));
    json_t *active = json_array();
    JSON_EACH (pod, all)
        if (is_active(pod))
            json_array_append(active, pod);
    return active;
}

/* The number of pods that have been ready long enough. */
static int64_t count_available(const struct actors *a, const json_t *set, const struct tally *t)
{
    int64_t min_ready_s = json_int(set, "spec.minReadySeconds", 0), available = 0;
    if (min_ready_s == 0)
        return t->ready;
    CLEANUP_JSON json_t *pods = active_pods(a, set);
    JSON_EACH (pod, pods)
        available += pod_is_available(a, pod, min_ready_s, NULL);
    return available;
}

static void replicaset_write_status(struct actors *a, const json_t *set, const struct tally *t)
{
    json_t *status = json_pack("{s:I, s:I, s:I, s:I, s:I}", "replicas", (json_int_t) t->active,
                               "fullyLabeledReplicas", (json_int_t) t->active, "readyReplicas",
                               (json_int_t) t->ready, "availableReplicas",
                               (json_int_t) count_available(a, set, t), "observedGeneration",
                               (json_int_t) object_generation(set));
    object_set_status(a, USER, a->kinds.replicaset, set, status);
}

/* Each created pod causes another sync. -1 if one is refused; the next one would be too. */
static int create_pods(struct actors *a, const json_t *set, int64_t count)
{
    for (int made = 0; made < count && made < PODS_PER_LOOK; made++) {
        CLEANUP_JSON json_t *pod = pod_of_template(a->kinds.replicaset, set,
                                                   json_at(set, "spec.template"));
        if (events_create_pod(a, USER, "replicaset-controller", set, pod) < 0)
            return -1;
    }
    return 0;
}

static void remove_pods(struct actors *a, const json_t *set, int64_t count)
{
    CLEANUP_JSON json_t *pods = active_pods(a, set);
    for (; count > 0; count--) {
        size_t place = least_worth(pods);
        CLEANUP_JSON json_t *pod = json_incref(json_array_get(pods, place));
        json_array_remove(pods, place);
        pod_delete(a, USER, pod, -1);
    }
}

static void look_at_set(void *self, const char *key)
{
    struct replicaset_controller *r = self;
    struct actors *a = r->a;
    CLEANUP_JSON json_t *set = json_incref(object_of_key(a, a->kinds.replicaset, key));
    if (!set)
        return;
    const struct tally *t = tally_of(r, object_uid(set));
    int64_t missing = object_is_deleting(set) ? 0 : json_int(set, "spec.replicas", 1) - t->active;
    if (create_pods(a, set, missing) < 0)
        agenda_retry(&r->sets, key);
    else
        agenda_succeeded(&r->sets, key);
    if (missing < 0)
        remove_pods(a, set, -missing);
    replicaset_write_status(a, set, t);
}

static void look_at_deployment(void *self, const char *key)
{
    struct replicaset_controller *r = self;
    CLEANUP_JSON json_t *deployment = json_incref(object_of_key(r->a, r->a->kinds.deployment, key));
    if (deployment && !object_is_deleting(deployment))
        deployment_sync(r->a, deployment);
}

static void replicaset_end(void *self)
{
    struct replicaset_controller *r = self;
    map_clear_with(&r->tallies, free);
}

const struct actor replicaset_actor = {
    .size = sizeof(struct replicaset_controller),
    .agendas = { AGENDA(struct replicaset_controller, sets, "replicaset", controller, look_at_set),
                 AGENDA(struct replicaset_controller, deployments, "deployment", controller,
                        look_at_deployment) },
    .commit = replicaset_commit,
    .end = replicaset_end,
};
