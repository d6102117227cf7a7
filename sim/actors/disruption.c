/* The disruption controller: the number of healthy pods of each PodDisruptionBudget, and of allowed
 * disruptions. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/fit.h"
#include "sim/actors/objects.h"

#define USER "system:serviceaccount:kube-system:disruption-controller"

/* An allowed eviction counts for so long, unless its pod is seen to go. */
enum { DISRUPTED_MS = 2 * 60 * 1000 };

struct disruption {
    struct actors *a;
    struct agenda agenda;
};

struct budget {
    int64_t healthy, desired, expected;
    json_t *disrupted; /* entries of disruptedPods that still count */
    int64_t again_at_ms;
    char *failure; /* why it cannot be computed; owned, NULL: computed */
};

static bool counts_differently(const struct api_commit *c)
{
    return !c->before || !c->after ||
           condition_is_true(c->before, "Ready") != condition_is_true(c->after, "Ready") ||
           object_is_deleting(c->before) != object_is_deleting(c->after) ||
           pod_is_finished(c->before) != pod_is_finished(c->after) ||
           !json_equal(json_at(c->before, "metadata.labels"), json_at(c->after, "metadata.labels"));
}

static void note_budgets_of(struct disruption *d, const json_t *pod)
{
    const struct kind *k = d->a->kinds.budget;
    for (size_t i = api_from(d->a->api, k, object_namespace(pod)); i < api_count(d->a->api, k);
         i++) {
        const json_t *budget = api_at(d->a->api, k, i);
        if (!str_eq(object_namespace(budget), object_namespace(pod)))
            break;
        if (fit_labels(json_at(budget, "spec.selector"), pod))
            agenda_note_object(&d->agenda, budget);
    }
}

static void disruption_commit(void *self, const struct api_commit *c)
{
    struct disruption *d = self;
    if (c->kind == d->a->kinds.budget && c->after && !(str_eq(c->user, USER) && *c->subresource)) {
        agenda_note_object(&d->agenda, c->after);
    } else if (c->kind == d->a->kinds.pod && counts_differently(c)) {
        if (c->before)
            note_budgets_of(d, c->before);
        if (c->after)
            note_budgets_of(d, c->after);
    }
}

/* The owner that scales a pod: its ReplicaSet, or the Deployment above. NULL: none. */
static const json_t *scaler_of(const struct actors *a, const json_t *pod)
{
    const json_t *controller = object_controller(pod);
    if (!controller || !str_eq(json_str(controller, "kind"), "ReplicaSet"))
        return NULL;
    const json_t *set = api_get(a->api, a->kinds.replicaset, object_namespace(pod),
                                json_str_or_empty(controller, "name"));
    const json_t *above = set ? object_controller(set) : NULL;
    return above ? api_get(a->api, a->kinds.deployment, object_namespace(pod),
                           json_str_or_empty(above, "name"))
                 : set;
}

/* The number of wanted pods according to their scaling owners; pods without one do not count. If an
 * owner cannot be scaled, *ret_failure says why, owned by the caller. */
static int64_t expected_scale(const struct actors *a, const json_t *pods, char **ret_failure)
{
    CLEANUP_JSON json_t *seen = json_object();
    int64_t total = 0;
    JSON_EACH (pod, pods) {
        const json_t *controller = object_controller(pod), *scaler = scaler_of(a, pod);
        const struct kind *k = kind_of(json_str_or_empty(controller, "apiVersion"),
                                       json_str_or_empty(controller, "kind"));
        if (k && !(k->subresources & SUB_SCALE)) {
            *ret_failure = xasprintf("%s.%s does not implement the scale subresource", k->plural,
                                     k->group);
            return 0;
        }
        if (!scaler || json_object_get(seen, object_uid(scaler)))
            continue;
        json_object_set_new(seen, object_uid(scaler), json_true());
        total += json_int(scaler, "spec.replicas", 1);
    }
    return total;
}

/* Evictions that still count: recent ones of existing pods that are not seen to go. */
static void keep_disrupted(const struct disruption *d, const json_t *object, struct budget *b)
{
    b->disrupted = json_object();
    JSON_EACH_MEMBER (name, time, json_at(object, "status.disruptedPods")) {
        const json_t *pod = api_get(d->a->api, d->a->kinds.pod, object_namespace(object), name);
        int64_t until = actors_ms_of(d->a, json_string_value(time)) + DISRUPTED_MS;
        if (!pod || object_is_deleting(pod) || until <= d->a->sim->now_ms)
            continue;
        json_object_set(b->disrupted, name, time);
        b->again_at_ms = b->again_at_ms < 0 || until < b->again_at_ms ? until : b->again_at_ms;
    }
}

static void disruption_count(const struct disruption *d, const json_t *object, struct budget *b)
{
    CLEANUP_JSON json_t *pods = pods_selected(d->a, object_namespace(object),
                                              json_at(object, "spec.selector"));
    const json_t *at_least = json_at(object, "spec.minAvailable"),
                 *at_most = json_at(object, "spec.maxUnavailable");
    JSON_EACH (pod, pods)
        b->healthy += condition_is_true(pod, "Ready") && !object_is_deleting(pod) &&
                      !json_object_get(b->disrupted, object_name(pod));
    b->expected = (int64_t) json_array_size(pods);
    if (at_most || json_is_string(at_least))
        b->expected = expected_scale(d->a, pods, &b->failure);
    if (at_most)
        b->desired = b->expected - scaled_value(at_most, b->expected, true, 0);
    else
        b->desired = scaled_value(at_least, b->expected, true, 1);
    b->desired = b->desired > 0 ? b->desired : 0;
}

static json_t *budget_condition(const struct disruption *d, const json_t *object, bool allowed,
                                const char *failure)
{
    char now[CLOCK_TEXT_MAX];
    actors_now(d->a, now);
    return conditions_with(json_at(object, "status.conditions"), "DisruptionAllowed",
                           allowed ? "True" : "False",
                           failure   ? "SyncFailed"
                           : allowed ? "SufficientPods"
                                     : "InsufficientPods",
                           failure ? failure : "", now);
}

/* The wanted status, with the fields of others. New reference. */
static json_t *disruption_status_of(const struct disruption *d, const json_t *object,
                                    const struct budget *b)
{
    int64_t allowed = b->failure || b->expected <= 0 || b->healthy < b->desired
                          ? 0
                          : b->healthy - b->desired;
    const json_t *old = json_object_get(object, "status");
    json_t *status = old ? json_copy((json_t *) old) : json_object();
    CLEANUP_JSON json_t *counts = json_pack(
        "{s:I, s:I, s:I, s:I}", "currentHealthy", (json_int_t) b->healthy, "desiredHealthy",
        (json_int_t) b->desired, "expectedPods", (json_int_t) b->expected, "observedGeneration",
        (json_int_t) object_generation(object));
    /* A failed sync allows no disruption and keeps the last counts. */
    if (!b->failure)
        json_object_update(status, counts);
    json_object_set_new(status, "disruptionsAllowed", json_integer(allowed));
    json_object_set_new(status, "conditions", budget_condition(d, object, allowed > 0, b->failure));
    if (json_object_size(b->disrupted) > 0)
        json_object_set(status, "disruptedPods", b->disrupted);
    else
        json_object_del(status, "disruptedPods");
    return status;
}

static void disruption_look(void *self, const char *key)
{
    struct disruption *d = self;
    CLEANUP_JSON json_t *object = json_incref(object_of_key(d->a, d->a->kinds.budget, key));
    if (!object)
        return;
    struct budget b = { .again_at_ms = -1 };
    keep_disrupted(d, object, &b);
    disruption_count(d, object, &b);
    CLEANUP_JSON json_t *status = disruption_status_of(d, object, &b);
    if (!json_equal(status, json_object_get(object, "status"))) {
        /* A full update with the resource version: a merge patch would keep the names of disrupted
         * pods. */
        CLEANUP_JSON json_t *update = json_copy(object);
        json_object_set(update, "status", status);
        api_update(d->a->api, USER, d->a->kinds.budget, "status", update, NULL);
    }
    if (b.again_at_ms >= 0)
        agenda_at(&d->agenda, key, b.again_at_ms);
    json_decref(b.disrupted);
    free(b.failure);
}

const struct actor disruption_actor = {
    .size = sizeof(struct disruption),
    .agendas = { AGENDA(struct disruption, agenda, "disruption", controller, disruption_look) },
    .commit = disruption_commit,
};
