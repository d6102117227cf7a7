#include "reconcilers/plan/children.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/plan/records.h"

/* One pass over the children. */
struct pass {
    const struct cluster_view *v;
    struct plan *plan;
    struct err *e;
    json_t *wanted; /* set of "resource/name" */
};

const struct child *cluster_child(const struct cluster_view *v, enum resource_id resource, const char *name)
{
    for (size_t i = 0; i < v->child_count; i++)
        if (v->children[i]->resource == resource && str_eq(child_name(v->children[i]), name))
            return v->children[i];
    return NULL;
}

const json_t *cluster_inputs(const struct cluster_view *v, const char *tier, const char *hash)
{
    char name[RENDER_NAME_MAX];
    render_revision_name(tier, hash, name);
    const struct child *record = cluster_child(v, RESOURCE_REVISION, name);
    size_t pool;
    if (record && json_is_object(record->inputs))
        return record->inputs;
    return v->targets ? targets_inputs(v->targets, tier, hash, &pool) : NULL;
}

static char *set_key(enum resource_id resource, const char *name)
{
    return xasprintf("%s/%s", resource_get(resource)->plural, name);
}

static const char *namespace_of(const struct pass *p, enum resource_id resource)
{
    return resource_get(resource)->namespaced ? p->v->operand_namespace : NULL;
}

static void add_apply(struct pass *p, enum resource_id resource, const char *name, const json_t *object, const char *reason,
                      const char *message)
{
    CLEANUP_FREE char *target = set_key(resource, name);
    plan_add(p->plan, request_apply(resource, namespace_of(p, resource), name, object), "Apply", target, reason, "%s", message);
}

/* Appends an operation of a JSON patch. */
static void add_operation(json_t *patch, const char *op, const char *path, json_t *value_steal)
{
    json_array_append_new(patch, json_pack("{s:s, s:s, s:o}", "op", op, "path", path, "value", value_steal));
}

/* Takes out of a child's spec what others put there, since server-side apply alone leaves what it does not know: the spec is replaced
 * whole and the others' ownership of it dropped, under a guard; the apply makes all of it ours. Replacing counts as a change of ours that
 * was no apply; the next pass drops that entry too, and then nothing is left to do. */
static void add_repair(struct pass *p, const struct child *live, const json_t *object)
{
    const char *name = child_name(live);
    CLEANUP_FREE char *target = set_key(live->resource, name);
    CLEANUP_JSON json_t *replace = json_array();
    add_operation(replace, "test", "/metadata/uid", json_string(live->head.uid));
    /* The generation, where there is one, since the status moves the resourceVersion all the time. */
    if (live->generation)
        add_operation(replace, "test", "/metadata/generation", json_integer(live->generation));
    else
        add_operation(replace, "test", "/metadata/resourceVersion", json_textf("%llu", (unsigned long long) live->head.rv));
    add_operation(replace, "replace", "/spec", json_incref(json_object_get(object, "spec")));
    add_operation(replace, "replace", "/metadata/managedFields", json_incref(live->kept_managers));
    plan_add(p->plan, request_json_patch(live->resource, namespace_of(p, live->resource), name, replace), "Repair", target,
             "Drift", "somebody else has set something in its spec: it is taken out again");
    add_apply(p, live->resource, name, object, "Drift", "its fields are taken over");
}

/* One child that should be there. Takes the object. */
static void want(struct pass *p, enum resource_id resource, json_t *object_steal)
{
    CLEANUP_JSON json_t *object = object_steal;
    if (!object)
        return;
    const char *name = object_name(object);
    CLEANUP_FREE char *key = set_key(resource, name);
    json_object_set_new(p->wanted, key, json_true());
    const struct child *live = cluster_child(p->v, resource, name);
    if (!live) {
        add_apply(p, resource, name, object, "Missing", "it is not there");
        return;
    }
    /* A cluster-scoped object of this name that we did not make (k3s makes its own RuntimeClass) serves as well. */
    bool theirs = !child_is_ours(live) && !live->intent && !resource_get(resource)->namespaced;
    if (live->deleting || theirs)
        return;
    if (!child_is_ours(live))
        add_apply(p, resource, name, object, "Drift", "it lost its labels");
    else if (live->kept_managers)
        add_repair(p, live, object);
    else if (!str_eq(live->intent, object_annotation(object, ANNOTATION_INTENT)))
        add_apply(p, resource, name, object, "Changed", "what it should be has changed");
    else if (!p->v->confirmed(p->v->arg, live))
        add_apply(p, resource, name, object, "Confirm", "it may have been changed since it was last applied");
}

static struct render_context context(const struct pass *p, const json_t *spec, const json_t *inputs, const char *hash)
{
    return (struct render_context){ .operand_namespace = p->v->operand_namespace,
                                    .policy_name = POLICY_NAME,
                                    .policy_uid = p->v->policy ? p->v->policy->uid : "",
                                    .spec = spec,
                                    .inputs = inputs,
                                    .hash = hash };
}

static void want_rendered(struct pass *p, enum resource_id resource, enum render_object what, const struct render_context *ctx)
{
    want(p, resource, render_object(p->v->manifests, what, ctx, p->e));
}

/* The effective spec that a revision's operands take their limits, labels and the like from: that of a pool that wants it. */
static const json_t *spec_of(const struct pass *p, const char *tier, const char *hash)
{
    size_t pool;
    if (p->v->targets && targets_inputs(p->v->targets, tier, hash, &pool))
        return targets_spec(p->v->targets, pool);
    return p->v->policy->spec;
}

static void want_daemonsets(struct pass *p, const char *tier, const char *hash, const json_t *inputs)
{
    struct render_context ctx = context(p, spec_of(p, tier, hash), inputs, hash);
    if (str_eq(tier, "driver")) {
        want_rendered(p, RESOURCE_DAEMONSET, RENDER_DRIVER, &ctx);
        return;
    }
    if (json_bool(inputs, "toolkit.enabled", false))
        want_rendered(p, RESOURCE_DAEMONSET, RENDER_TOOLKIT, &ctx);
    if (json_bool(inputs, "devicePlugin.enabled", false))
        want_rendered(p, RESOURCE_DAEMONSET, RENDER_DEVICE_PLUGIN, &ctx);
}

/* Whether nodes, or a pool that may go back to it, need the revision. While a node has not been looked at, all are needed. */
static bool is_needed(const struct cluster_view *v, const char *tier, const char *hash, const struct child *record)
{
    if (v->stance == STANCE_REMOVE)
        return !v->settled || tally_carrying(v->tally, tier, hash, true) > 0;
    return !v->settled || tally_carrying(v->tally, tier, hash, false) || tally_wanted(v->tally, tier, hash) ||
           (record && record_is_known_good(v, record));
}

static void want_record(struct pass *p, const char *tier, const char *hash, const json_t *inputs, const struct child *record)
{
    struct render_context ctx = context(p, NULL, inputs, hash);
    json_t *object = render_revision(&ctx);
    CLEANUP_JSON json_t *annotations = record_annotations(p->v, tier, hash, record);
    const char *key;
    json_t *value;
    json_object_foreach (annotations, key, value)
        json_object_set(json_at(object, "metadata.annotations"), key, value);
    render_seal(object);
    want(p, RESOURCE_REVISION, object);
}

static void want_revision(struct pass *p, const char *tier, const char *hash)
{
    char name[RENDER_NAME_MAX];
    render_revision_name(tier, hash, name);
    CLEANUP_FREE char *key = set_key(RESOURCE_REVISION, name);
    const struct child *record = cluster_child(p->v, RESOURCE_REVISION, name);
    const json_t *inputs = cluster_inputs(p->v, tier, hash);
    if (json_object_get(p->wanted, key) || !inputs || !is_needed(p->v, tier, hash, record))
        return;
    if (p->v->stance == STANCE_MANAGE)
        want_record(p, tier, hash, inputs, record);
    else
        json_object_set_new(p->wanted, key, json_true());
    if (!record) /* written first: a DaemonSet without a record could not be made again */
        return;
    if (p->v->stance == STANCE_MANAGE)
        want_daemonsets(p, tier, hash, inputs);
}

static void want_revisions(struct pass *p)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&p->v->tally->revisions, &cursor))) {
        const struct revision_tally *r = e->value;
        want_revision(p, r->tier, r->hash);
    }
    for (size_t i = 0; i < p->v->child_count; i++) {
        const struct child *c = p->v->children[i];
        const char *tier = json_str(c->inputs, "tier");
        if (c->resource == RESOURCE_REVISION && child_is_ours(c) && tier && c->revision)
            want_revision(p, tier, c->revision);
    }
}

/* Nodes with a stack of ours: where there are any, the followers and the RuntimeClass are needed. */
static size_t stacks_carried(const struct cluster_view *v, bool without_lost)
{
    size_t n = 0, cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->tally->revisions, &cursor))) {
        const struct revision_tally *r = e->value;
        if (str_eq(r->tier, "stack"))
            n += r->carrying - (without_lost ? r->carrying_lost : 0);
    }
    return n;
}

/* Whether all pods of the follower are up with these inputs. */
static bool is_complete(const struct cluster_view *v, const struct child *live, const json_t *inputs)
{
    size_t wanted = v->tally->operands[COMPONENT_EXPORTER].wanted;
    return wanted && v->tally->operands[COMPONENT_EXPORTER].up == wanted && live && json_equal(live->inputs, inputs) &&
           live->updated == live->desired;
}

static void annotate(json_t *object, const char *key, const json_t *value)
{
    if (!value)
        return;
    CLEANUP_FREE char *text = json_canonical(value);
    json_object_set_new(json_at(object, "metadata.annotations"), key, json_string(text));
}

/* A follower has no record: its inputs stand on the object itself, and those that were last known good, so that what the policy leaves
 * open can be held. */
static json_t *with_inputs(const struct cluster_view *v, json_t *object, const struct child *live, const json_t *inputs)
{
    if (!object)
        return NULL;
    annotate(object, ANNOTATION_INPUTS, inputs);
    annotate(object, ANNOTATION_KNOWN_GOOD, is_complete(v, live, inputs) ? inputs : live ? live->known_good : NULL);
    render_seal(object);
    return object;
}

static void want_exporter(struct pass *p)
{
    const struct cluster_view *v = p->v;
    const json_t *spec = v->policy->spec;
    struct host host;
    if (v->any_gpu_node)
        host = host_of(v->any_gpu_node);
    char name[RENDER_NAME_MAX];
    render_name(RENDER_EXPORTER, NULL, name);
    const struct child *live = cluster_child(v, RESOURCE_DAEMONSET, name);
    CLEANUP_JSON json_t *inputs = exporter_inputs(spec, v->any_gpu_node ? &host : NULL, live ? live->known_good : NULL);
    struct render_context ctx = context(p, spec, inputs, NULL);
    want(p, RESOURCE_DAEMONSET, with_inputs(v, render_object(v->manifests, RENDER_EXPORTER, &ctx, p->e), live, inputs));
    want_rendered(p, RESOURCE_SERVICE, RENDER_EXPORTER_SERVICE, &ctx);
    if (v->monitors_exist && json_bool(spec, "exporter.serviceMonitor.enabled", false))
        want_rendered(p, RESOURCE_SERVICEMONITOR, RENDER_EXPORTER_MONITOR, &ctx);
}

static void want_followers(struct pass *p)
{
    const struct cluster_view *v = p->v;
    bool exporter = json_bool(v->policy->spec, "exporter.enabled", true);
    if (stacks_carried(v, false) == 0)
        return;
    struct render_context ctx = context(p, v->policy->spec, NULL, NULL);
    want_rendered(p, RESOURCE_RUNTIMECLASS, RENDER_RUNTIME_CLASS, &ctx);
    if (exporter)
        want_exporter(p);
}

static bool is_wanted(const struct pass *p, const struct child *c)
{
    CLEANUP_FREE char *key = set_key(c->resource, child_name(c));
    return json_object_get(p->wanted, key) != NULL;
}

/* Whether a DaemonSet of the same revision is still there: its record is deleted last. */
static bool has_daemonset(const struct cluster_view *v, const struct child *record)
{
    for (size_t i = 0; i < v->child_count; i++)
        if (v->children[i]->resource == RESOURCE_DAEMONSET && str_eq(v->children[i]->revision, record->revision))
            return true;
    return false;
}

/* A DaemonSet of a tier goes when no node carries its revision; followers stay while any node has a stack or nothing is known. */
static bool may_go(const struct pass *p, const struct child *c)
{
    const struct cluster_view *v = p->v;
    if (!v->settled)
        return false;
    if (c->resource == RESOURCE_REVISION)
        return !has_daemonset(v, c);
    bool removing = v->stance == STANCE_REMOVE;
    /* Also one whose record is lost, so that nobody can say what it is: what runs of it stays. */
    if (c->revision)
        return tally_carrying(v->tally, "driver", c->revision, removing) + tally_carrying(v->tally, "stack", c->revision, removing) == 0;
    if (removing)
        return stacks_carried(v, true) == 0;
    bool exporter_off = !json_bool(v->policy->spec, "exporter.enabled", true);
    bool monitor_off = !json_bool(v->policy->spec, "exporter.serviceMonitor.enabled", false);
    if (c->resource == RESOURCE_SERVICEMONITOR)
        return monitor_off || exporter_off;
    if (c->resource == RESOURCE_DAEMONSET || c->resource == RESOURCE_SERVICE)
        return exporter_off;
    return false;
}

static size_t delete_unwanted(struct pass *p)
{
    size_t left = 0;
    for (size_t i = 0; i < p->v->child_count; i++) {
        const struct child *c = p->v->children[i];
        if (!child_is_ours(c) || c->resource == RESOURCE_CONFIGMAP || is_wanted(p, c))
            continue;
        left++;
        if (c->deleting || !may_go(p, c))
            continue;
        CLEANUP_FREE char *target = set_key(c->resource, child_name(c));
        plan_add(p->plan, request_delete(c->resource, namespace_of(p, c->resource), child_name(c), c->head.uid), "Delete", target,
                 "Unneeded", "no node needs it any more");
    }
    return left;
}

size_t children_plan(const struct cluster_view *v, struct plan *plan, struct err *e)
{
    struct pass p = { .v = v, .plan = plan, .e = e, .wanted = json_object() };
    want_revisions(&p);
    if (v->stance == STANCE_MANAGE)
        want_followers(&p);
    size_t left = delete_unwanted(&p);
    json_decref(p.wanted);
    return left;
}
