#include "tests/unit/support/toy.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/reconcilers.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/targets_sources.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/frame.h"

/* More passes than anything takes that ends. */
enum { PASSES_MAX = 60 };

static int64_t zero(void *self)
{
    (void) self;
    return 1;
}

static int64_t toy_now_us(void *self)
{
    (void) self;
    return clock_parse_rfc3339(TOY_NOW);
}

static const struct clock still = { .mono_ms = zero, .wall_us = toy_now_us };

static void ignore_node(void *arg, const char *name)
{
    (void) arg;
    (void) name;
}

static void ignore_policy(void *arg, bool soon)
{
    (void) arg;
    (void) soon;
}

/* Parsed once for all toys: it is most of what one costs. */
static const struct manifests *the_manifests(void)
{
    static struct manifests *parsed;
    CLEANUP_ERR struct err e = { 0 };
    if (!parsed)
        parsed = manifests_new(&e);
    assert_non_null(parsed);
    return parsed;
}

void toy_init(struct toy *t, const json_t *policy)
{
    *t = (struct toy){ .cluster = xcalloc(1, sizeof *t->cluster), .manifests = the_manifests() };
    cluster_init(t->cluster, &(struct cluster_options){ .operand_namespace = TOY_NAMESPACE,
                                                         .image_prefixes = POLICY_IMAGE_PREFIXES,
                                                         .clock = &still,
                                                         .listener = { ignore_node, ignore_policy, NULL } });
    t->passes = xcalloc(1, sizeof *t->passes);
    *t->passes = (struct reconcilers){ .cluster = t->cluster, .manifests = t->manifests, .policy = ignore_policy };
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        t->objects[i] = json_object();
        t->cluster->tables[i].synced = true;
    }
    if (!policy)
        return;
    CLEANUP_JSON json_t *base = json_pack("{s:s, s:s, s:{s:s, s:[s]}, s:{s:{s:b}, s:{s:{s:b}}}}", "apiVersion", POLICY_API_VERSION, "kind", POLICY_KIND,
                                          "metadata", "name", POLICY_NAME, "finalizers", POLICY_FINALIZER, "spec", "validation", "enabled", 0,
                                          "nodes", "startupTaint", "enabled", 0);
    json_merge(base, policy);
    toy_put(t, RESOURCE_POLICY, json_incref(base));
}

void toy_clear(struct toy *t)
{
    rollout_report_clear(&t->passes->rollout);
    plan_keeper_clear(&t->passes->plans);
    free(t->passes);
    cluster_clear(t->cluster);
    free(t->cluster);
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        json_decref(t->objects[i]);
    err_clear(&t->refused);
}

json_t *toy_get(const struct toy *t, enum resource_id resource, const char *name)
{
    return json_object_get(t->objects[resource], name);
}

/* ---- what others do */

static bool has_generation(enum resource_id resource)
{
    return resource == RESOURCE_DAEMONSET || resource == RESOURCE_POLICY;
}

/* A new version of an object in the store; takes it. */
static void store(struct toy *t, enum resource_id resource, json_t *object_steal)
{
    const char *name = object_name(object_steal);
    const json_t *before = toy_get(t, resource, name);
    json_t *metadata = json_object_get(object_steal, "metadata");
    json_object_set_new(metadata, "resourceVersion", json_textf("%llu", (unsigned long long) ++t->rv));
    if (!*object_uid(object_steal))
        json_object_set_new(metadata, "uid", json_textf("uid-%s-%llu", name, (unsigned long long) t->rv));
    const json_t *was = json_object_get(before, "spec"), *is = json_object_get(object_steal, "spec");
    bool changed = !before || (was != is && !json_equal(was, is));
    if (has_generation(resource) && (changed || !object_generation(object_steal)))
        json_object_set_new(metadata, "generation", json_integer(object_generation(before) + 1));
    if (resource == RESOURCE_NODE)
        frame_show(object_steal);
    CLEANUP_FREE char *key = xstrdup(name);
    json_object_set_new(t->objects[resource], key, object_steal);
}

void toy_put(struct toy *t, enum resource_id resource, json_t *object_steal)
{
    CLEANUP_FREE char *name = xstrdup(object_name(object_steal));
    store(t, resource, object_steal);
    table_event(&t->cluster->tables[resource], toy_get(t, resource, name), false);
}

void toy_edit(struct toy *t, enum resource_id resource, const char *name, const json_t *patch)
{
    const json_t *before = toy_get(t, resource, name);
    if (!before)
        fail_msg("there is no %s", name);
    json_t *object = json_deep_copy(before);
    frame_merge(object, patch);
    toy_put(t, resource, object);
}

void toy_remove(struct toy *t, enum resource_id resource, const char *name)
{
    CLEANUP_JSON json_t *object = json_incref(toy_get(t, resource, name));
    if (!object)
        fail_msg("there is no %s", name);
    json_object_del(t->objects[resource], name);
    table_event(&t->cluster->tables[resource], object, true);
}

/* ---- objects from short forms */

/* Sets what the short form has, or a default (NULL: none). */
static void take(json_t *object, const char *path, const json_t *brief, const char *key, const char *fallback)
{
    json_t *value = json_object_get(brief, key);
    if (value)
        json_set_at(object, path, json_deep_copy(value));
    else if (fallback)
        json_set_at(object, path, json_string(fallback));
}

static json_t *condition(const char *type, bool holds)
{
    return json_pack("[{s:s, s:s}]", "type", type, "status", holds ? "True" : "False");
}

json_t *toy_node(const json_t *brief)
{
    json_t *node = json_pack("{s:s, s:s, s:{s:{s:s}, s:{s:s}}, s:{s:s}}", "apiVersion", "v1", "kind", "Node", "metadata", "labels",
                             "kubernetes.io/arch", "amd64", "annotations", "example.com/rack", "7", "spec", "podCIDR", "10.0.0.0/24");
    take(node, "metadata.name", brief, "name", "gpu-1");
    take(node, "spec.taints", brief, "taints", NULL);
    take(node, "status.nodeInfo.osImage", brief, "os", "Ubuntu 24.04.1 LTS");
    take(node, "status.nodeInfo.kernelVersion", brief, "kernel", "6.8.0-49-generic");
    take(node, "status.nodeInfo.containerRuntimeVersion", brief, "runtime", "containerd://2.1.4");
    take(node, "status.nodeInfo.kubeletVersion", brief, "kubelet", "v1.34.1");
    take(node, "status.nodeInfo.architecture", brief, "architecture", "amd64");
    json_merge(json_at(node, "metadata.labels"), json_object_get(brief, "labels"));
    json_merge(json_at(node, "metadata.annotations"), json_object_get(brief, "annotations"));
    json_t *allocatable = json_pack("{s:s, s:o}", "cpu", "64", RESOURCE_GPU,
                                    json_textf("%d", (int) json_int(brief, "gpus", 0)));
    json_set_at(node, "status.allocatable", allocatable);
    json_merge(allocatable, json_object_get(brief, "allocatable"));
    take(node, "status.capacity", brief, "capacity", NULL);
    json_set_at(node, "status.conditions", condition("Ready", json_bool(brief, "ready", true)));
    if (json_object_get(brief, "upSince"))
        json_object_set(json_array_get(json_at(node, "status.conditions"), 0), "lastTransitionTime", json_object_get(brief, "upSince"));
    take(node, "spec.unschedulable", brief, "cordoned", NULL);
    if (json_bool(brief, "deleting", false))
        json_set_at(node, "metadata.deletionTimestamp", json_string(TOY_NOW));
    return node;
}

static void fill_operand(json_t *pod, const json_t *brief)
{
    json_set_at(pod, "metadata.namespace", json_string(TOY_NAMESPACE));
    json_set_at(pod, "metadata.ownerReferences", json_pack("[{s:s, s:b}]", "kind", "DaemonSet", "controller", 1));
    json_t *labels = json_at(pod, "metadata.labels");
    json_object_set_new(labels, LABEL_MANAGED_BY, json_string(MANAGED_BY));
    json_object_set(labels, LABEL_COMPONENT, json_object_get(brief, "operand"));
    if (json_object_get(brief, "revision"))
        json_object_set(labels, LABEL_REVISION, json_object_get(brief, "revision"));
}

/* A one-off pod of Ostler's on gpu-1. */
static void fill_task(json_t *pod, const json_t *brief)
{
    static const char affinity[] = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    const char *kind = json_str(brief, "task"), *resource = json_str(brief, "resource");
    const json_t *ended = json_object_get(brief, "ended"), *words = json_object_get(brief, "unschedulable");
    json_t *labels = json_at(pod, "metadata.labels"), *container = json_array_get(json_at(pod, "spec.containers"), 0);
    json_object_set_new(labels, LABEL_MANAGED_BY, json_string(MANAGED_BY));
    json_object_set_new(labels, LABEL_TASK, json_string(kind));
    take(pod, "metadata.creationTimestamp", brief, "created", TOY_NOW);
    const char *policy = json_str(brief, "policy");
    json_object_set_new(labels, LABEL_POLICY_UID, json_string(policy ? policy : "uid-" POLICY_NAME "-1"));
    json_object_set(labels, LABEL_REVISION, json_object_get(brief, "purpose"));
    json_set_at(container, "resources.limits", json_pack("{s:s}", resource ? resource : RESOURCE_GPU, "1"));
    json_set_at(pod, affinity, json_pack("[{s:[{s:s, s:s, s:[s]}]}]", "matchFields", "key", "metadata.name", "operator", "In", "values", "gpu-1"));
    take(pod, "status.phase", brief, "phase", "Pending");
    if (ended)
        json_set_at(pod, "status.containerStatuses", json_pack("[{s:O, s:{s:O}}]", "name", json_object_get(container, "name"), "state", "terminated", ended));
    if (words) {
        json_object_del(json_object_get(pod, "spec"), "nodeName");
        json_set_at(pod, "status.conditions", json_pack("[{s:s, s:s, s:s, s:O}]", "type", "PodScheduled", "status", "False", "reason", "Unschedulable",
                                                        "message", words));
    }
}

json_t *toy_pod(const json_t *brief)
{
    const char *key = json_str(brief, "name");
    CLEANUP_FREE char *made = xasprintf(TOY_NAMESPACE "/%s-x", json_str_or_empty(brief, "operand"));
    if (!key)
        key = made;
    const char *slash = strchr(key, '/');
    json_t *pod = json_pack("{s:s, s:s, s:{s:s%, s:s, s:{}}, s:{s:[{s:s}]}}", "apiVersion", "v1", "kind", "Pod", "metadata",
                            "namespace", key, (size_t) (slash - key), "name", slash + 1, "labels", "spec", "containers", "name", "main");
    json_t *container = json_array_get(json_at(pod, "spec.containers"), 0);
    take(pod, "spec.nodeName", brief, "node", "gpu-1");
    take(container, "image", brief, "image", "example.com/app:1");
    json_merge(json_at(pod, "metadata.labels"), json_object_get(brief, "labels"));
    if (json_object_get(brief, "operand"))
        fill_operand(pod, brief);
    if (json_int(brief, "gpus", 0))
        json_set_at(container, "resources.limits",
                    json_pack("{s:o}", RESOURCE_GPU, json_textf("%d", (int) json_int(brief, "gpus", 0))));
    take(pod, "metadata.ownerReferences", brief, "owners", NULL);
    take(pod, "spec.restartPolicy", brief, "restartPolicy", NULL);
    if (json_object_get(brief, "initImage"))
        json_set_at(pod, "spec.initContainers", json_pack("[{s:O}]", "image", json_object_get(brief, "initImage")));
    json_set_at(pod, "status.conditions", condition("Ready", json_bool(brief, "ready", false)));
    if (json_object_get(brief, "waiting"))
        json_set_at(pod, "status.containerStatuses", json_pack("[{s:{s:O}}]", "state", "waiting", json_object_get(brief, "waiting")));
    if (json_object_get(brief, "said"))
        json_set_at(pod, "status.initContainerStatuses",
                    json_pack("[{s:{s:{s:i, s:s, s:O}}}]", "state", "terminated", "exitCode", 1, "reason", "Error", "message",
                              json_object_get(brief, "said")));
    if (json_object_get(brief, "initStatus"))
        json_set_at(pod, "status.initContainerStatuses", json_pack("[O]", json_object_get(brief, "initStatus")));
    if (json_object_get(brief, "task"))
        fill_task(pod, brief);
    if (json_bool(brief, "deleting", false))
        json_set_at(pod, "metadata.deletionTimestamp", json_string(TOY_NOW));
    return pod;
}

json_t *toy_record(const char *hash, const json_t *inputs)
{
    struct render_context ctx = { .operand_namespace = TOY_NAMESPACE, .policy_uid = "uid", .inputs = inputs, .hash = hash };
    return render_revision(&ctx);
}

/* ---- passes */

static struct node_slot *slot_of(const struct toy *t, const char *name)
{
    struct node_slot *slot = map_get(&t->cluster->slots, name);
    if (!slot || !slot->node)
        fail_msg("there is no node %s", name);
    return slot;
}

const struct target *toy_target(struct toy *t, const char *node)
{
    struct node_slot *slot = slot_of(t, node);
    struct node_view view = { slot->node, t->cluster->strings };
    struct node_facts facts = node_facts(&view);
    struct node_pods pods;
    cluster_node_pods(t->cluster, slot, &pods);
    size_t pool = policy_pool_of(&t->cluster->policy, node_label, &view);
    return targets_for(cluster_targets(t->cluster), pool, &facts, slot->node->host_driver || pods.host_driver);
}

void toy_forget_targets(struct toy *t)
{
    targets_free(TAKE(t->cluster->targets));
}

enum stance toy_stance(const struct toy *t)
{
    int64_t again_ms;
    if (t->hold)
        return STANCE_HOLD;
    if (t->cluster->object)
        return cluster_stance(t->cluster, &again_ms);
    return t->cluster->saw_deletion || t->absent_for_long ? STANCE_REMOVE : STANCE_HOLD;
}

void toy_pass_node(struct toy *t, struct arena *a, const char *name, struct node_verdict *v, struct plan *plan)
{
    struct cluster *c = t->cluster;
    struct node_slot *slot = slot_of(t, name);
    enum stance stance = toy_stance(t);
    struct node_pods pods;
    cluster_node_pods(c, slot, &pods);
    struct node_input in = {
        .view = { slot->node, c->strings },
        .pods = &pods,
        .stance = stance,
        .force_removal = object_annotation(c->object, POLICY_FORCE_REMOVAL) != NULL,
        .deleting = t->deleting,
        .may_mark = object_has_finalizer(c->object, POLICY_FINALIZER),
        .policy = stance == STANCE_MANAGE ? &c->policy : NULL,
        .targets = stance == STANCE_MANAGE ? cluster_targets(c) : NULL,
        .rollout = stance == STANCE_MANAGE ? &c->rollout : NULL,
        .manifests = t->manifests,
        .operand_namespace = TOY_NAMESPACE,
        .pod_list = slot->pods,
        .refused = t->not_evicted,
        .generation = object_generation(c->object),
        .now_s = clock_wall_us(&still) / 1000000,
        .watched_s = t->watched_s ? t->watched_s : INT64_MAX,
        .age_s = t->age_s,
        .record = cluster_record,
        .arg = c,
    };
    node_plan(&in, a, v, plan);
    tally_set(&c->tally, &slot->summary, v);
    cluster_node_seen(c, slot);
}

static bool confirmed(void *arg, const struct child *child)
{
    return cluster_confirmed(arg, child);
}

static const struct child **gather(const struct cluster *c, size_t *ret_count)
{
    static const enum resource_id resources[] = { RESOURCE_DAEMONSET, RESOURCE_REVISION, RESOURCE_SERVICE, RESOURCE_CONFIGMAP,
                                                  RESOURCE_RUNTIMECLASS, RESOURCE_SERVICEMONITOR };
    const struct child **children = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        size_t cursor = 0;
        const struct map_entry *e;
        while ((e = map_next(&c->tables[resources[i]].records, &cursor))) {
            children = xreallocarray(children, *ret_count + 1, sizeof *children);
            children[(*ret_count)++] = e->value;
        }
    }
    return children;
}

static const struct node_slot *any_stack_node(const struct cluster *c)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&c->slots, &cursor)))
        if (((const struct node_slot *) e->value)->node && ((const struct node_slot *) e->value)->summary.stack)
            return e->value;
    return NULL;
}

bool toy_pass_policy(struct toy *t, struct plan *plan)
{
    struct cluster *c = t->cluster;
    CLEANUP_ARENA struct arena a = { 0 };
    const struct node_slot *some = any_stack_node(c);
    struct node_view view = { some ? some->node : NULL, c->strings };
    struct node_facts facts = some ? node_facts(&view) : (struct node_facts){ 0 };
    enum stance stance = toy_stance(t);
    struct cluster_view v = {
        .object = c->object,
        .policy = c->policy_valid ? &c->policy : NULL,
        .problems = c->problem_text,
        .problem_list = c->problem_text ? &c->problems : NULL,
        .stance = stance,
        .targets = stance == STANCE_MANAGE ? cluster_targets(c) : NULL,
        .tally = &c->tally,
        .settled = c->pending == 0 && !t->unsettled,
        .confirmed = confirmed,
        .arg = c,
        .rollout = &t->passes->rollout,
        .failure = t->refused.kind != ERR_NONE ? &t->refused : NULL,
        .monitors_exist = t->monitors_exist,
        .any_gpu_node = some ? &facts : NULL,
        .manifests = t->manifests,
        .intents = &c->intents,
        .operand_namespace = TOY_NAMESPACE,
        .now = TOY_NOW,
    };
    if (stance == STANCE_HOLD && !c->object)
        return false;
    const struct child **children = gather(c, &v.child_count);
    v.children = children;
    bool done = policy_plan(&v, &a, plan);
    free(children);
    return done;
}

void toy_pass_rollout(struct toy *t, struct plan *plan)
{
    if (toy_stance(t) == STANCE_MANAGE && !t->unsettled)
        rollout_reconcile(t->passes, POLICY_NAME, plan);
}

/* ---- the API server, as far as plans need it */

/* What server-side apply leaves of the object that was there: labels and annotations of others, and what they own in its spec. */
static json_t *applied(const json_t *before, const json_t *intent)
{
    json_t *object = json_deep_copy(intent);
    static const char *const maps[] = { "metadata.labels", "metadata.annotations" };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        const char *key;
        json_t *value, *map = json_at(object, maps[i]);
        json_object_foreach (json_at(before, maps[i]), key, value)
            if (map && !json_object_get(map, key) && !str_has_prefix(key, MARK_PREFIX))
                json_object_set(map, key, value);
    }
    json_t *managers = json_pack("[{s:s, s:s, s:{s:{}}}]", "manager", FIELD_MANAGER, "operation", "Apply", "fieldsV1", "f:spec");
    size_t i;
    json_t *entry;
    bool foreign = false;
    json_array_foreach (json_at(before, "metadata.managedFields"), i, entry) {
        if (str_eq(json_str(entry, "operation"), "Apply") && str_eq(json_str(entry, "manager"), FIELD_MANAGER))
            continue;
        json_array_append(managers, entry);
        foreign = true;
    }
    json_set_at(object, "metadata.managedFields", managers);
    if (foreign) {
        CLEANUP_JSON json_t *spec = json_deep_copy(json_object_get(before, "spec"));
        json_merge(spec, json_object_get(intent, "spec"));
        json_object_set(object, "spec", spec);
    }
    json_object_set(json_object_get(object, "metadata"), "uid", json_at(before, "metadata.uid"));
    json_object_set(json_object_get(object, "metadata"), "generation", json_at(before, "metadata.generation"));
    json_object_set(object, "status", json_object_get(before, "status"));
    return object;
}

/* A JSON patch, whose tests hold since nobody writes between a pass and its plan; what it changes in the spec is recorded under its sender's name, as an update. */
static json_t *operated(const json_t *before, const json_t *operations)
{
    json_t *object = frame_operated(before, operations);
    if (!object)
        fail_msg("a JSON patch of %s is refused", object_name(before));
    assert_string_equal(json_str(json_array_get(operations, 0), "path"), "/metadata/uid");
    if (!json_equal(json_object_get(before, "spec"), json_object_get(object, "spec")))
        json_array_append_new(json_at(object, "metadata.managedFields"),
                              json_pack("{s:s, s:s, s:{s:{}}}", "manager", FIELD_MANAGER, "operation", "Update", "fieldsV1", "f:spec"));
    return object;
}

/* A guarded merge patch, of the policy. */
static json_t *patched(const json_t *before, const json_t *patch)
{
    assert_string_equal(json_str_or_empty(patch, "metadata.uid"), object_uid(before));
    assert_string_equal(json_str_or_empty(patch, "metadata.resourceVersion"), json_str(before, "metadata.resourceVersion"));
    json_t *object = json_deep_copy(before);
    frame_merge(object, patch);
    return object;
}

/* No driver goes from under a GPU pod, unless a person skips the wait, or it never ran since the host has its own. A label that somebody
 * else had changed may go back to what runs. */
static void check_driver_stays(const struct toy *t, const json_t *before, const json_t *after)
{
    const char *was = object_label(before, LABEL_DRIVER), *is = object_label(after, LABEL_DRIVER);
    struct node_pods pods;
    cluster_node_pods(t->cluster, slot_of(t, object_name(before)), &pods);
    bool allowed = !was || str_eq(was, is) || pods.host_driver || str_eq(is, pods.of[COMPONENT_DRIVER].revision) ||
                   object_annotation(t->cluster->object, POLICY_FORCE_REMOVAL);
    if (!allowed && pods.gpu_pods)
        fail_msg("node %s: the driver label goes from %s to %s under %zu GPU pods", object_name(before), was, is ? is : "none",
                 pods.gpu_pods);
}

static void check_node_write(const struct toy *t, const json_t *before, const json_t *after)
{
    const char *broken = frame_broken(before, after);
    if (broken)
        fail_msg("node %s: %s", object_name(before), broken);
    check_driver_stays(t, before, after);
    if (object_is_deleting(before))
        fail_msg("node %s is being deleted and is written to", object_name(before));
}

static void check_changes_something(const struct action *a, const json_t *before, const json_t *after)
{
    CLEANUP_JSON json_t *b = json_deep_copy(before);
    json_object_del(json_object_get(b, "metadata"), "resourceVersion");
    CLEANUP_JSON json_t *c = json_deep_copy(after);
    json_object_del(json_object_get(c, "metadata"), "resourceVersion");
    /* An apply that only confirms what is there, or takes its fields over, may find it so already. */
    if (json_equal(b, c) && !str_eq(a->reason, "Confirm") && !str_eq(a->reason, "Drift"))
        fail_msg("%s %s %s changes nothing", a->verb, a->target, a->reason);
}

/* A one-off pod, and what its kubelet says at once: every image is there. */
static json_t *created(const json_t *before, const json_t *body)
{
    if (before)
        fail_msg("%s is there already", object_name(before));
    json_t *object = json_deep_copy(body), *statuses = json_array(), *container;
    size_t i;
    json_array_foreach (json_at(object, "spec.containers"), i, container)
        json_array_append_new(statuses, json_pack("{s:O, s:O, s:O}", "name", json_object_get(container, "name"), "image",
                                                  json_object_get(container, "image"), "imageID", json_object_get(container, "image")));
    json_set_at(object, "status.phase", json_string("Pending"));
    json_set_at(object, "status.containerStatuses", statuses);
    return object;
}

static json_t *result_of(const struct action *a, const json_t *before, const json_t *body)
{
    if (str_eq(a->request.method, "POST"))
        return created(before, body);
    if (strstr(a->request.path, "/status?")) {
        json_t *object = json_deep_copy(before);
        json_object_set(object, "status", json_object_get(body, "status"));
        return object;
    }
    if (str_has_prefix(a->request.content_type, "application/apply-patch"))
        return applied(before, body);
    if (str_has_prefix(a->request.content_type, "application/merge-patch"))
        return patched(before, body);
    return operated(before, body);
}

static void carry_out(struct toy *t, const struct action *a)
{
    CLEANUP_ERR struct err e = { 0 };
    if (a->request.looks)
        return; /* all that is there is known */
    enum resource_id resource = a->request.resource;
    CLEANUP_FREE char *name = xstrdup(resource == RESOURCE_POLICY ? POLICY_NAME : strrchr(a->target, '/') + 1);
    CLEANUP_JSON json_t *before = json_incref(toy_get(t, resource, name));
    CLEANUP_JSON json_t *body = json_parse(a->request.body, strlen(a->request.body), &e);
    t->writes++;
    if (a->request.evicts) {
        if (!a->request.dry_run)
            toy_remove(t, resource, name);
        return;
    }
    if (str_eq(a->request.method, "DELETE")) {
        assert_string_equal(json_str_or_empty(body, "preconditions.uid"), object_uid(before));
        toy_remove(t, resource, name);
        return;
    }
    json_t *after = result_of(a, before, body);
    if (before)
        check_changes_something(a, before, after);
    if (resource == RESOURCE_NODE)
        check_node_write(t, before, after);
    store(t, resource, after);
    bool gone = object_is_deleting(after) && json_array_size(json_at(after, "metadata.finalizers")) == 0;
    cluster_written(t->cluster, resource, after);
    if (gone)
        toy_remove(t, resource, name);
}

void toy_carry_out(struct toy *t, const struct plan *plan)
{
    for (size_t i = 0; i < plan->len; i++)
        carry_out(t, &plan->actions[i]);
}

/* ---- the DaemonSet controller */

/* Whether a DaemonSet wants a pod on a node: by its nodeSelector, or for a follower by the stack's label. */
static bool wants_pod(const json_t *set, const json_t *node)
{
    const json_t *selector = json_at(set, "spec.template.spec.nodeSelector");
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) selector, key, value)
        if (str_has_prefix(key, MARK_PREFIX) && !str_eq(object_label(node, key), json_string_value(value)))
            return false;
    return object_label(set, LABEL_REVISION) || object_label(node, LABEL_STACK);
}

static bool has_wanted_pod(const struct toy *t, const char *set, const char *node)
{
    CLEANUP_FREE char *name = xasprintf("%s-%s", set, node);
    return toy_get(t, RESOURCE_POD, name) != NULL;
}

/* What a kubelet does when a device plugin comes or goes. */
static void offer_gpus(struct toy *t, const json_t *pod, const char *count)
{
    const char *node = json_str(pod, "spec.nodeName");
    if (!str_eq(object_label(pod, LABEL_COMPONENT), component_name(COMPONENT_DEVICE_PLUGIN)) || !toy_get(t, RESOURCE_NODE, node))
        return;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "status", "allocatable", RESOURCE_GPU, count);
    toy_edit(t, RESOURCE_NODE, node, patch);
}

static bool remove_unwanted_pods(struct toy *t)
{
    CLEANUP_JSON json_t *pods = json_copy(t->objects[RESOURCE_POD]);
    bool changed = false;
    const char *name;
    json_t *pod;
    json_object_foreach (pods, name, pod) {
        const char *owner = json_str(pod, "metadata.owner");
        const json_t *set = owner ? toy_get(t, RESOURCE_DAEMONSET, owner) : NULL;
        const json_t *node = toy_get(t, RESOURCE_NODE, json_str_or_empty(pod, "spec.nodeName"));
        if (!owner || (set && node && wants_pod(set, node)))
            continue;
        offer_gpus(t, pod, "0");
        toy_remove(t, RESOURCE_POD, name);
        changed = true;
    }
    return changed;
}

static void add_pod(struct toy *t, const json_t *set, const char *node)
{
    CLEANUP_JSON json_t *brief = json_pack("{s:o, s:s, s:o, s:b}", "name",
                                           json_textf(TOY_NAMESPACE "/%s-%s", object_name(set), node), "node", node, "operand",
                                           json_incref(json_object_get(json_at(set, "metadata.labels"), LABEL_COMPONENT)), "ready", 1);
    if (object_label(set, LABEL_REVISION))
        json_object_set_new(brief, "revision", json_string(object_label(set, LABEL_REVISION)));
    json_t *pod = toy_pod(brief);
    json_set_at(pod, "metadata.owner", json_string(object_name(set)));
    offer_gpus(t, pod, "8");
    toy_put(t, RESOURCE_POD, pod);
}

/* What the DaemonSet controller says of a set that rolls: here it has rolled at once. */
static bool count_pods(struct toy *t, const json_t *set)
{
    const char *name;
    json_t *node;
    json_int_t desired = 0;
    if (!str_eq(json_str(set, "spec.updateStrategy.type"), "RollingUpdate"))
        return false;
    json_object_foreach (t->objects[RESOURCE_NODE], name, node)
        desired += wants_pod(set, node);
    CLEANUP_JSON json_t *status = json_pack("{s:I, s:I, s:I}", "observedGeneration", (json_int_t) object_generation(set),
                                            "desiredNumberScheduled", desired, "updatedNumberScheduled", desired);
    if (json_equal(status, json_object_get(set, "status")))
        return false;
    json_t *counted = json_deep_copy(set);
    json_object_set(counted, "status", status);
    toy_put(t, RESOURCE_DAEMONSET, counted);
    return true;
}

/* Proofs come to their end, and all is well. */
static bool end_proofs(struct toy *t)
{
    bool changed = false;
    const char *name;
    json_t *pod;
    CLEANUP_JSON json_t *tasks = json_copy(t->objects[RESOURCE_TASK]);
    json_object_foreach (tasks, name, pod) {
        if (!str_eq(json_str(pod, "status.phase"), "Pending") || !str_eq(object_label(pod, LABEL_TASK), task_kind_name(TASK_PROOF)))
            continue;
        CLEANUP_JSON json_t *end = json_pack("{s:{s:s, s:[{s:s, s:{s:{s:i}}}]}}", "status", "phase", "Succeeded", "containerStatuses", "name", "x",
                                             "state", "terminated", "exitCode", 0);
        toy_edit(t, RESOURCE_TASK, name, end);
        changed = true;
    }
    return changed;
}

bool toy_follow(struct toy *t)
{
    bool changed = remove_unwanted_pods(t) | end_proofs(t);
    CLEANUP_JSON json_t *sets = json_copy(t->objects[RESOURCE_DAEMONSET]);
    const char *set_name, *node_name;
    json_t *set, *node;
    json_object_foreach (sets, set_name, set) {
        changed |= count_pods(t, set);
        json_object_foreach (t->objects[RESOURCE_NODE], node_name, node) {
            if (!wants_pod(set, node) || has_wanted_pod(t, set_name, node_name))
                continue;
            add_pod(t, set, node_name);
            changed = true;
        }
    }
    return changed;
}

/* One round over everything; false when there was nothing to do. */
static bool round_of_passes(struct toy *t, struct buf *log)
{
    bool any = false;
    const char *name;
    json_t *node;
    CLEANUP_JSON json_t *nodes = json_copy(t->objects[RESOURCE_NODE]);
    json_object_foreach (nodes, name, node) {
        CLEANUP_ARENA struct arena a = { 0 };
        CLEANUP_PLAN struct plan plan = { 0 };
        struct node_verdict v;
        toy_pass_node(t, &a, name, &v, &plan);
        toy_carry_out(t, &plan);
        plan_text(&plan, log);
        any |= plan.len > 0;
    }
    CLEANUP_PLAN struct plan grants = { 0 };
    toy_pass_rollout(t, &grants);
    plan_text(&grants, log);
    toy_carry_out(t, &grants);
    any |= grants.len > 0;
    CLEANUP_PLAN struct plan plan = { 0 };
    toy_pass_policy(t, &plan);
    plan_text(&plan, log);
    toy_carry_out(t, &plan);
    return any || plan.len > 0;
}

void toy_settle(struct toy *t, bool follow, struct buf *log)
{
    CLEANUP_BUF struct buf unread = BUF_INIT(1 << 24);
    for (int i = 0; i < PASSES_MAX; i++) {
        bool acted = round_of_passes(t, log ? log : &unread);
        if (acted)
            buf_str(log ? log : &unread, "\n");
        bool followed = follow && toy_follow(t);
        if (!acted && !followed)
            return;
    }
    fail_msg("no end after %d passes:\n%s", PASSES_MAX, buf_text(log ? log : &unread));
}
