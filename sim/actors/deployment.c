/* Deployments: one ReplicaSet for each template; the new one grows within maxSurge, the old ones
 * shrink within maxUnavailable. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/replicaset.h"

#define USER "system:serviceaccount:kube-system:deployment-controller"

/* The ReplicaSet with this template hash, or NULL. */
static json_t *deployment_set_of(const json_t *sets, const char *hash)
{
    JSON_EACH (set, sets)
        if (str_eq(object_label(set, LABEL_TEMPLATE_HASH), hash))
            return set;
    return NULL;
}

static json_t *with_hash(const json_t *labels, const char *hash)
{
    json_t *out = labels ? json_copy((json_t *) labels) : json_object();
    json_object_set_new(out, LABEL_TEMPLATE_HASH, json_string(hash));
    return out;
}

static void create_set(struct actors *a, const json_t *deployment, const char *hash)
{
    const json_t *selector = json_at(deployment, "spec.selector"),
                 *template = json_at(deployment, "spec.template");
    json_t *own_template = json_copy((json_t *) template),
           *metadata = json_copy(json_object_get(template, "metadata"));
    json_object_set_new(metadata, "labels", with_hash(json_object_get(metadata, "labels"), hash));
    json_object_set_new(own_template, "metadata", metadata);
    json_t *own_selector = json_copy((json_t *) selector);
    json_object_set_new(own_selector, "matchLabels",
                        with_hash(json_object_get(selector, "matchLabels"), hash));
    CLEANUP_JSON json_t *set = json_pack(
        "{s:{s:s, s:o, s:o, s:[o]}, s:{s:I, s:o, s:o}}", "metadata", "namespace",
        object_namespace(deployment), "name", json_textf("%s-%s", object_name(deployment), hash),
        "labels", with_hash(json_at(template, "metadata.labels"), hash), "ownerReferences",
        owner_reference(a->kinds.deployment, deployment), "spec", "replicas", (json_int_t) 0,
        "selector", own_selector, "template", own_template);
    api_create(a->api, USER, a->kinds.replicaset, set, NULL);
}

static int64_t replicas_of(const json_t *set)
{
    return json_int(set, "spec.replicas", 0);
}

static int64_t sum(const json_t *sets, const char *path)
{
    int64_t total = 0;
    JSON_EACH (set, sets)
        total += json_int(set, path, 0);
    return total;
}

static void scale(struct actors *a, const json_t *set, int64_t replicas)
{
    if (replicas_of(set) == replicas)
        return;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:I}}", "spec", "replicas", (json_int_t) replicas);
    api_merge(a->api, USER, a->kinds.replicaset, object_namespace(set), object_name(set), "", patch,
              NULL);
}

static int64_t at_least_0(int64_t n)
{
    return n > 0 ? n : 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether old pods still exist, including terminating ones. */
static bool old_pods_are_there(const struct actors *a, const json_t *sets, const json_t *fresh)
{
    JSON_EACH (set, sets)
        if (set != fresh && index_dependents(a->index, object_uid(set))->len > 0)
            return true;
    return false;
}

/* Scales down old sets: first unavailable pods, then others while enough stay available. */
static void shrink(struct actors *a, const json_t *sets, const json_t *fresh,
                   int64_t least_available)
{
    int64_t fresh_unavailable = at_least_0(replicas_of(fresh) -
                                           json_int(fresh, "status.availableReplicas", 0));
    int64_t room = at_least_0(sum(sets, "spec.replicas") - least_available - fresh_unavailable);
    int64_t spare = at_least_0(sum(sets, "status.availableReplicas") - least_available);
    JSON_EACH (set, sets) {
        if (set == fresh)
            continue;
        int64_t broken = at_least_0(replicas_of(set) -
                                    json_int(set, "status.availableReplicas", 0));
        int64_t goes = least(least(broken + spare, replicas_of(set)), room);
        scale(a, set, replicas_of(set) - goes);
        room -= goes;
        spare -= at_least_0(goes - broken);
    }
}

static void roll(struct actors *a, const json_t *deployment, const json_t *sets,
                 const json_t *fresh)
{
    int64_t wanted = json_int(deployment, "spec.replicas", 1), total = sum(sets, "spec.replicas");
    const json_t *limits = json_at(deployment, "spec.strategy.rollingUpdate");
    if (str_eq(json_str(deployment, "spec.strategy.type"), "Recreate")) {
        JSON_EACH (set, sets)
            scale(a, set,
                  set != fresh                         ? 0
                  : old_pods_are_there(a, sets, fresh) ? replicas_of(fresh)
                                                       : wanted);
        return;
    }
    int64_t surge = scaled_value(json_object_get(limits, "maxSurge"), wanted, true, 1);
    scale(a, fresh, least(replicas_of(fresh) + at_least_0(wanted + surge - total), wanted));
    shrink(a, sets, fresh,
           wanted - scaled_value(json_object_get(limits, "maxUnavailable"), wanted, false, 0));
}

static void deployment_write_status(struct actors *a, const json_t *deployment, const json_t *sets,
                                    const json_t *fresh)
{
    int64_t available = sum(sets, "status.availableReplicas"), total = sum(sets, "status.replicas"),
            wanted = json_int(deployment, "spec.replicas", 1);
    int64_t missing = scaled_value(
        json_at(deployment, "spec.strategy.rollingUpdate.maxUnavailable"), wanted, false, 0);
    bool enough = available >= wanted - missing;
    char now[CLOCK_TEXT_MAX];
    actors_now(a, now);
    json_t *status = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "replicas", (json_int_t) total, "updatedReplicas",
        (json_int_t) json_int(fresh, "status.replicas", 0), "readyReplicas",
        (json_int_t) sum(sets, "status.readyReplicas"), "availableReplicas", (json_int_t) available,
        "unavailableReplicas", (json_int_t) at_least_0(wanted - available), "observedGeneration",
        (json_int_t) object_generation(deployment), "conditions",
        conditions_with(json_at(deployment, "status.conditions"), "Available",
                        enough ? "True" : "False",
                        enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                        enough ? "Deployment has minimum availability."
                               : "Deployment does not have minimum availability.",
                        now));
    object_set_status(a, USER, a->kinds.deployment, deployment, status);
}

void deployment_sync(struct actors *a, const json_t *deployment)
{
    char hash[16];
    template_hash(json_at(deployment, "spec.template"), 0, hash);
    CLEANUP_JSON json_t *sets = index_copy(a->index, a->kinds.replicaset, object_uid(deployment));
    const json_t *fresh = deployment_set_of(sets, hash);
    if (!fresh) {
        /* The commit of the new set causes the next sync. */
        create_set(a, deployment, hash);
        return;
    }
    roll(a, deployment, sets, fresh);
    deployment_write_status(a, deployment, sets, fresh);
}
