#include "sim/actors/replicaset.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/events.h"

#define USER "system:serviceaccount:kube-system:replicaset-controller"

enum { PODS_PER_LOOK = 500 };

struct replicaset_controller {
    struct actors *a;
    struct agenda sets, deployments;
};

/* Tells the controller of an object, when it is of this kind. */
static void note_owner(struct agenda *g, const char *kind, const json_t *object)
{
    const json_t *controller = object_controller(object);
    if (!controller || !str_eq(json_str(controller, "kind"), kind))
        return;
    CLEANUP_FREE char *key = xasprintf("%s/%s", object_namespace(object), json_str_or_empty(controller, "name"));
    agenda_note(g, key);
}

/* A Deployment that recreates its pods waits for the end of the old ones. */
static void note_end_of_pod(struct replicaset_controller *r, const json_t *pod)
{
    const json_t *controller = object_controller(pod);
    const json_t *set =
        str_eq(json_str(controller, "kind"), "ReplicaSet")
            ? api_get(r->a->api, r->a->kinds.replicaset, object_namespace(pod), json_str_or_empty(controller, "name"))
            : NULL;
    if (set)
        note_owner(&r->deployments, "Deployment", set);
}

static void commit(void *self, const struct api_commit *c)
{
    struct replicaset_controller *r = self;
    const json_t *any = c->after ? c->after : c->before;
    CLEANUP_FREE char *key = c->kind == r->a->kinds.replicaset || c->kind == r->a->kinds.deployment ? object_key(any) : NULL;
    if (c->kind == r->a->kinds.pod) {
        note_owner(&r->sets, "ReplicaSet", any);
        if (!c->after)
            note_end_of_pod(r, any);
    }
    if (c->kind == r->a->kinds.replicaset) {
        agenda_note(&r->sets, key);
        note_owner(&r->deployments, "Deployment", any);
    }
    if (c->kind == r->a->kinds.deployment)
        agenda_note(&r->deployments, key);
}

/* Pods that are deleted first when there are too many: those that are not bound, then not ready, then the youngest. */
static int worth(const json_t *pod)
{
    return (*json_str_or_empty(pod, "spec.nodeName") ? 1 : 0) + (pod_is_ready(pod) ? 2 : 0);
}

static const json_t *least_worth(const json_t *pods)
{
    const json_t *least = NULL;
    size_t i;
    json_t *pod;
    json_array_foreach (pods, i, pod)
        if (!least || worth(pod) < worth(least) || (worth(pod) == worth(least) && pod_compare_age(pod, least) > 0))
            least = pod;
    return least;
}

static void remove_value(json_t *list, const json_t *value)
{
    size_t i;
    json_t *v;
    json_array_foreach (list, i, v)
        if (v == value) {
            json_array_remove(list, i);
            return;
        }
}

/* The pods that count: not ended, not on their way out. New reference. */
static json_t *active_pods(const struct actors *a, const json_t *set)
{
    CLEANUP_JSON json_t *all = index_copy(a->index, a->kinds.pod, object_uid(set));
    json_t *active = json_array(), *pod;
    size_t i;
    json_array_foreach (all, i, pod)
        if (!pod_is_finished(pod) && !object_is_deleting(pod))
            json_array_append(active, pod);
    return active;
}

static void write_status(struct actors *a, const json_t *set, const json_t *pods)
{
    int64_t ready = 0, available = 0;
    size_t i;
    json_t *pod;
    json_array_foreach (pods, i, pod) {
        ready += pod_is_ready(pod);
        available += pod_is_available(a, pod, json_int(set, "spec.minReadySeconds", 0), NULL);
    }
    json_t *status =
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "replicas", (json_int_t) json_array_size(pods), "fullyLabeledReplicas",
                  (json_int_t) json_array_size(pods), "readyReplicas", (json_int_t) ready, "availableReplicas",
                  (json_int_t) available, "observedGeneration", (json_int_t) object_generation(set));
    CLEANUP_JSON json_t *merged = json_at(set, "status") ? json_copy(json_at(set, "status")) : json_object();
    json_object_update(merged, status);
    if (json_equal(merged, json_at(set, "status")))
        json_decref(status);
    else
        object_set_status(a, USER, a->kinds.replicaset, set, status);
}

/* What is made is a reason to look again. -1 when one is refused; the next would be, too. */
static int create_pods(struct actors *a, const json_t *set, int64_t count)
{
    for (int made = 0; made < count && made < PODS_PER_LOOK; made++) {
        CLEANUP_JSON json_t *pod = pod_of_template(a->kinds.replicaset, set, json_at(set, "spec.template"));
        CLEANUP_REFUSAL struct refusal refusal = { 0 };
        if (api_create(a->api, USER, a->kinds.pod, pod, &refusal) < 0) {
            events_tell(a, "replicaset-controller", set, true, "FailedCreate", "Error creating: %s", refusal.message);
            return -1;
        }
    }
    return 0;
}

static void look_at_set(void *self, const char *key)
{
    struct replicaset_controller *r = self;
    struct actors *a = r->a;
    CLEANUP_JSON json_t *set = json_incref(object_of_key(a, a->kinds.replicaset, key));
    if (!set)
        return;
    CLEANUP_JSON json_t *pods = active_pods(a, set);
    int64_t missing = json_int(set, "spec.replicas", 1) - (int64_t) json_array_size(pods);
    if (object_is_deleting(set))
        missing = 0;
    if (create_pods(a, set, missing) < 0)
        agenda_retry(&r->sets, key);
    else
        agenda_succeeded(&r->sets, key);
    for (; missing < 0; missing++) {
        CLEANUP_JSON json_t *pod = json_incref((json_t *) least_worth(pods));
        remove_value(pods, pod);
        api_delete(a->api, USER, a->kinds.pod, object_namespace(pod), object_name(pod), object_uid(pod), -1, NULL);
    }
    CLEANUP_JSON json_t *left = active_pods(a, set);
    write_status(a, set, left);
}

static void look_at_deployment(void *self, const char *key)
{
    struct replicaset_controller *r = self;
    CLEANUP_JSON json_t *deployment = json_incref(object_of_key(r->a, r->a->kinds.deployment, key));
    if (deployment && !object_is_deleting(deployment))
        deployment_sync(r->a, deployment);
}

static void *begin(struct actors *a)
{
    struct replicaset_controller *r = xcalloc(1, sizeof *r);
    r->a = a;
    agenda_init(&r->sets, a->sim, "replicaset", a->world.latencies.controller, look_at_set, r);
    agenda_init(&r->deployments, a->sim, "deployment", a->world.latencies.controller, look_at_deployment, r);
    return r;
}

static void end(void *self)
{
    struct replicaset_controller *r = self;
    agenda_clear(&r->sets);
    agenda_clear(&r->deployments);
    free(r);
}

const struct actor replicaset_actor = { begin, commit, end };
