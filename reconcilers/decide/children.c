#include "reconcilers/decide/children.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/json_patch.h"
#include "kube/object.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/rollout_events.h"

/* State of one pass over the children. */
struct pass {
    const struct cluster_view *v;
    struct actions *actions;
    struct err *e;
    json_t *wanted; /* set of "resource/name" */
};

static char *set_key(enum resource_id resource, const char *name)
{
    return xasprintf("%s/%s", resource_get(resource)->plural, name);
}

static const char *namespace_of(const struct pass *p, enum resource_id resource)
{
    return resource_get(resource)->namespaced ? p->v->operand_namespace : NULL;
}

/* Removes what other managers put into a child's spec, because server-side apply alone leaves
 * fields that it does not know. A guarded patch replaces the whole spec and drops the others'
 * ownership; the apply then makes all of it Ostler's. The patch itself counts as an update by
 * Ostler that was no apply. The next pass drops that entry too, and then nothing is left to do. */
static void add_repair(struct pass *p, const struct child *live, const json_t *object)
{
    const char *name = child_name(live);
    CLEANUP_FREE char *target = set_key(live->resource, name);
    CLEANUP_JSON json_t *replace = json_array();
    json_patch_add(replace, "test", "/metadata/uid", json_string(RECORD_UID(&live->head)));
    /* The generation, if there is one, because the status changes the resourceVersion all the
     * time. */
    if (live->generation)
        json_patch_add(replace, "test", "/metadata/generation", json_integer(live->generation));
    else
        json_patch_add(replace, "test", "/metadata/resourceVersion",
                       json_textf("%llu", (unsigned long long) live->head.rv));
    json_patch_add(replace, "replace", "/spec", json_incref(json_object_get(object, "spec")));
    json_patch_add(replace, "replace", "/metadata/managedFields", json_incref(live->kept_managers));
    const char *ns = namespace_of(p, live->resource);
    action_add(p->actions, request_json_patch(live->resource, ns, name, replace), VERB_REPAIR,
               target, REASON_DRIFT,
               "another field manager changed the object's spec: Ostler restores it");
}

/* A child that should exist, and how to make it. */
struct recipe {
    enum resource_id resource;
    const char *name;
    const char *key;         /* all that the object depends on besides the policy, for the cache */
    enum render_object what; /* not for a record */
    struct render_context ctx;
    const json_t *annotations; /* additional ones; NULL: none */
};

/* What to do about a child. */
enum need { NEED_NOTHING, NEED_MISSING, NEED_LABELS, NEED_REPAIR, NEED_CHANGED, NEED_CONFIRM };

static const struct {
    enum reason reason;
    const char *message;
} needs[] = {
    [NEED_MISSING] = { REASON_MISSING, "the object is missing: Ostler creates it" },
    [NEED_LABELS] = { REASON_DRIFT,
                      "Ostler's labels are missing on the object: Ostler restores them" },
    [NEED_REPAIR] = { REASON_DRIFT,
                      "another field manager owns fields of the object: Ostler takes them over" },
    [NEED_CHANGED] = { REASON_CHANGED, "the policy or this version of Ostler asks for other "
                                       "contents: Ostler applies them" },
    [NEED_CONFIRM] = { REASON_CONFIRM, "the object may have changed since Ostler last applied it: "
                                       "Ostler applies it again" },
};

/* `intent` is the hash of the wanted child. */
static enum need need_of(const struct pass *p, const struct child *live, const char *intent)
{
    if (!live)
        return NEED_MISSING;
    /* A cluster-scoped object of this name that Ostler did not create (k3s creates its own
     * RuntimeClass) will do as well. */
    bool theirs = !child_is_ours(live) && !live->intent &&
                  !resource_get(live->resource)->namespaced;
    if (live->deleting || theirs)
        return NEED_NOTHING;
    if (!child_is_ours(live))
        return NEED_LABELS;
    if (live->kept_managers)
        return NEED_REPAIR;
    if (!str_eq(live->intent, intent))
        return NEED_CHANGED;
    return p->v->confirmed(p->v->arg, live) ? NEED_NOTHING : NEED_CONFIRM;
}

static void add_need(struct pass *p, enum need need, const struct recipe *r,
                     const struct child *live, const json_t *object)
{
    CLEANUP_FREE char *target = set_key(r->resource, r->name);
    if (need == NEED_REPAIR)
        add_repair(p, live, object);
    if (need != NEED_NOTHING)
        action_add(p->actions,
                   request_apply(r->resource, namespace_of(p, r->resource), r->name, object),
                   VERB_APPLY, target, needs[need].reason, "%s", needs[need].message);
}

/* Additional annotations are part of the intent. */
static json_t *children_make(const struct pass *p, const struct recipe *r)
{
    json_t *object = r->resource == RESOURCE_REVISION
                         ? render_revision(&r->ctx)
                         : render_object(p->v->manifests, r->what, &r->ctx, p->e);
    if (object && r->annotations) {
        json_object_update(json_at(object, "metadata.annotations"), (json_t *) r->annotations);
        render_seal(object);
    }
    return object;
}

/* Wants one child. Renders it only if its intent is not cached or it must be written. */
static void want(struct pass *p, const struct recipe *r)
{
    const struct child *live = cluster_child(p->v, r->resource, r->name);
    const char *known = intents_get(p->v->intents, r->key);
    CLEANUP_FREE char *key = set_key(r->resource, r->name);
    if (known)
        json_object_set_new(p->wanted, key, json_true());
    if (known && need_of(p, live, known) == NEED_NOTHING)
        return;
    CLEANUP_JSON json_t *object = children_make(p, r);
    if (!object)
        return;
    json_object_set_new(p->wanted, key, json_true());
    const char *intent = object_annotation(object, ANNOTATION_INTENT);
    if (!known)
        intents_put(p->v->intents, r->key, intent);
    add_need(p, need_of(p, live, intent), r, live, object);
}

static struct render_context context(const struct pass *p, const json_t *spec, const json_t *inputs,
                                     const char *hash)
{
    return (struct render_context){ .operand_namespace = p->v->operand_namespace,
                                    .policy_uid = p->v->policy ? p->v->policy->uid : "",
                                    .spec = spec,
                                    .inputs = inputs,
                                    .hash = hash,
                                    .agent_image = p->v->agent_image,
                                    .keep_off_control_plane = p->v->keep_off_control_plane };
}

/* `variant` distinguishes objects of one name that one policy can want. `annotations` may be NULL.
 */
static void want_rendered(struct pass *p, enum resource_id resource, enum render_object what,
                          const struct render_context *ctx, const char *variant,
                          const json_t *annotations)
{
    char name[RENDER_NAME_MAX];
    render_name(what, ctx->hash, name);
    CLEANUP_FREE char *key = xasprintf("%s/%s %s%s", resource_get(resource)->plural, name, variant,
                                       ctx->keep_off_control_plane ? "" : " anywhere");
    want(p, &(struct recipe){ resource, name, key, what, *ctx, annotations });
}

/* The spec of the pool that wants the revision has the operands' limits, labels and the like. */
static void want_daemonsets(struct pass *p, const char *tier, const char *hash,
                            const json_t *inputs)
{
    size_t pool;
    bool wanted = p->v->targets && targets_inputs(p->v->targets, tier, hash, &pool);
    const json_t *spec = wanted ? targets_spec(p->v->targets, pool) : p->v->policy->spec;
    struct render_context ctx = context(p, spec, inputs, hash);
    CLEANUP_FREE char *variant = wanted ? xasprintf("pool %zu", pool) : xstrdup("");
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (operand_is_in(o, inputs))
            want_rendered(p, RESOURCE_DAEMONSET, render_daemonset(o->id), &ctx, variant, NULL);
}

/* Whether reconciled nodes, or a pool that may roll back to it, need the revision. */
static bool is_needed(const struct cluster_view *v, const char *tier, const char *hash,
                      const struct child *record)
{
    if (v->mode == MODE_REMOVE)
        return tally_nodes(v->tally, tier, hash, TALLY_CARRYING_UP) > 0;
    return tally_nodes(v->tally, tier, hash, TALLY_CARRYING | TALLY_WANTED | TALLY_CLAIMED) > 0 ||
           (record && (record_is_held(v, record) || child_has_failed(record)));
}

/* Whether the record stays although no node needs the revision, because it was known good
 * before. */
static bool is_remembered(const struct cluster_view *v, const struct child *record)
{
    return v->mode == MODE_MANAGE && record && record_was_held(v, record);
}

static void want_record(struct pass *p, const char *name, const char *tier, const char *hash,
                        const json_t *inputs, const struct child *record)
{
    CLEANUP_JSON json_t *annotations = record_annotations(p->v, tier, hash, record);
    CLEANUP_FREE char *text = json_canonical(annotations);
    CLEANUP_FREE char *key = xasprintf("record/%s %s", name, text);
    size_t before = p->actions->len;
    want(p, &(struct recipe){ .resource = RESOURCE_REVISION,
                              .name = name,
                              .key = key,
                              .ctx = context(p, NULL, inputs, hash),
                              .annotations = annotations });
    if (p->actions->len > before)
        rollout_events(p->v, tier, hash, record, annotations, p->actions);
}

/* The operands of a revision's nodes, and the pod that removes a toolkit's configuration from
 * them. */
static void want_operands(struct pass *p, const char *tier, const char *hash, const json_t *inputs)
{
    if (p->v->mode == MODE_MANAGE)
        want_daemonsets(p, tier, hash, inputs);
    if (tally_nodes(p->v->tally, tier, hash, TALLY_REMOVING) == 0)
        return;
    /* Also if the policy is not known; then without its pull settings. */
    struct render_context ctx = context(p, p->v->policy ? p->v->policy->spec : NULL, inputs, hash);
    want_rendered(p, RESOURCE_DAEMONSET, RENDER_REMOVAL, &ctx, "", NULL);
}

static void want_revision(struct pass *p, const char *tier, const char *hash)
{
    char name[RENDER_NAME_MAX];
    render_revision_name(tier, hash, name);
    CLEANUP_FREE char *key = set_key(RESOURCE_REVISION, name);
    const struct child *record = cluster_find_record(p->v, tier, hash);
    const json_t *inputs = cluster_inputs(p->v, tier, hash);
    if (json_object_get(p->wanted, key) || !inputs)
        return;
    bool needed = is_needed(p->v, tier, hash, record);
    bool remembered = !needed && is_remembered(p->v, record);
    /* A node that is not reconciled yet may need any revision, but hardly one that is only
     * remembered: keep what exists. */
    bool perhaps = !needed && !remembered && !p->v->settled;
    if (!needed && !remembered && !perhaps)
        return;
    if (p->v->mode == MODE_MANAGE)
        want_record(p, name, tier, hash, inputs, record);
    else
        json_object_set_new(p->wanted, key, json_true());
    /* The record is written first: a DaemonSet without a record could not be recreated. */
    if (record && (needed || (perhaps && cluster_has_daemonset(p->v, record))))
        want_operands(p, tier, hash, inputs);
}

static void want_revisions(struct pass *p)
{
    MAP_EACH (e, &p->v->tally->revisions) {
        const struct revision_tally *r = e->value;
        want_revision(p, r->tier, r->hash);
    }
    for (size_t i = 0; i < p->v->child_count; i++) {
        const struct child *c = p->v->children[i];
        const char *tier = json_str(c->inputs, "tier");
        if (cluster_is_record(c, NULL) && tier && c->revision)
            want_revision(p, tier, c->revision);
    }
}

/* The inputs of followers. A follower has no record. Its DaemonSet has annotations with its image
 * and its last known good image, so that a version that the policy leaves open can stay. The other
 * inputs are not kept there, because they can exceed the size limit of annotations. */

/* The inputs of a follower that the policy may leave open, so that they can be kept. New reference;
 * NULL: no inputs. */
static json_t *held_part(const json_t *inputs)
{
    return inputs ? json_pack("{s:O*, s:O*}", "image", json_object_get(inputs, "image"), "version",
                              json_object_get(inputs, "version"))
                  : NULL;
}

/* Whether all pods of the follower have this image and at least one is up. Pods that are not up
 * then fail because of their nodes. */
static bool has_rolled(const struct cluster_view *v, const struct operand_row *follower,
                       const struct child *live, const json_t *image)
{
    if (!live)
        return false;
    CLEANUP_JSON json_t *live_image = held_part(live->inputs);
    return v->tally->operands[follower->id].up && json_equal(live_image, image) && live->counted &&
           live->updated == live->desired;
}

static void put_text(json_t *annotations, const char *key, const json_t *value)
{
    CLEANUP_FREE char *text = value ? json_canonical(value) : NULL;
    if (text)
        json_object_set_new(annotations, key, json_string(text));
}

/* The annotations of its DaemonSet with its image and its known good image. New reference. */
static json_t *followers_annotations(const struct cluster_view *v,
                                     const struct operand_row *follower, const json_t *inputs)
{
    const struct child *live = cluster_child(v, RESOURCE_DAEMONSET, follower->name);
    CLEANUP_JSON json_t *image = held_part(inputs);
    CLEANUP_JSON json_t *known_good = held_part(has_rolled(v, follower, live, image) ? inputs
                                                : live ? live->known_good
                                                       : NULL);
    json_t *annotations = json_object();
    if (!follower->image.image)
        return annotations;
    put_text(annotations, ANNOTATION_INPUTS, image);
    put_text(annotations, ANNOTATION_KNOWN_GOOD, known_good);
    return annotations;
}

/* The traits of nodes' stacks for followers. A stack with DaemonSets may belong to a node that is
 * not reconciled yet. */
static unsigned traits_of_stacks(const struct cluster_view *v)
{
    unsigned traits = 0;
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *c = v->children[i];
        if (cluster_is_record(c, "stack") &&
            (cluster_has_daemonset(v, c) ||
             tally_nodes(v->tally, "stack", c->revision, TALLY_CARRYING | TALLY_WANTED) > 0))
            traits |= follower_traits(c->inputs);
    }
    return traits;
}

/* The inputs of a follower under a valid policy. New reference. */
static json_t *followers_inputs(const struct cluster_view *v, const struct operand_row *follower)
{
    const struct child *live = cluster_child(v, RESOURCE_DAEMONSET, follower->name);
    struct host host;
    if (v->any_gpu_node)
        host = host_of(v->any_gpu_node);
    return follower_inputs(follower, v->policy->spec, v->any_gpu_node ? &host : NULL,
                           live ? live->known_good : NULL, traits_of_stacks(v));
}

/* Whether the default runtime of any node with a stack gives the devices. */
static bool needs_default_runtime(const struct cluster_view *v)
{
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *c = v->children[i];
        if (cluster_is_record(c, "stack") && stack_has_default_runtime(c->inputs) &&
            tally_nodes(v->tally, "stack", c->revision, TALLY_CARRYING | TALLY_WANTED) > 0)
            return true;
    }
    return false;
}

/* Its DaemonSet for nodes whose default runtime gives the devices. */
static void want_on_default_runtime(struct pass *p, const struct render_other *r,
                                    const json_t *others_inputs)
{
    const struct operand_row *follower = operand_get(r->operand);
    if (!needs_default_runtime(p->v))
        return;
    CLEANUP_JSON json_t *inputs = follower_inputs_of_default_runtime(follower, others_inputs);
    struct render_context ctx = context(p, p->v->policy->spec, inputs, NULL);
    want_rendered(p, r->resource, r->what, &ctx, "", NULL);
}

/* What belongs to a follower beside its DaemonSet. */
static void want_others(struct pass *p, const struct operand_row *follower,
                        const struct render_context *ctx, const char *variant)
{
    for (const struct render_other *r = render_others; r->name; r++) {
        if (r->operand != follower->id || !render_is_wished(r, ctx->spec))
            continue;
        if (r->resource == RESOURCE_DAEMONSET)
            want_on_default_runtime(p, r, ctx->inputs);
        else if (r->resource != RESOURCE_SERVICEMONITOR || p->v->monitors_exist)
            want_rendered(p, r->resource, r->what, ctx, variant, NULL);
    }
}

static void want_follower(struct pass *p, const struct operand_row *follower)
{
    const struct cluster_view *v = p->v;
    const json_t *spec = v->policy->spec;
    CLEANUP_JSON json_t *inputs = followers_inputs(v, follower);
    struct render_context ctx = context(p, spec, inputs, NULL);
    CLEANUP_JSON json_t *annotations = followers_annotations(v, follower, inputs);
    CLEANUP_FREE char *text = json_canonical(inputs);
    CLEANUP_FREE char *variant = xasprintf(
        "%s %s", text, str_or_empty(json_key(annotations, ANNOTATION_KNOWN_GOOD)));
    want_rendered(p, RESOURCE_DAEMONSET, render_daemonset(follower->id), &ctx, variant,
                  annotations);
    want_others(p, follower, &ctx, variant);
}

/* Before any DaemonSet: the API server refuses pods that name a missing RuntimeClass, and the
 * DaemonSet controller then backs off longer and longer. */
static void want_runtime_class(struct pass *p)
{
    if (tally_nodes(p->v->tally, "stack", NULL, TALLY_CARRYING | TALLY_WANTED) == 0)
        return;
    struct render_context ctx = context(p, p->v->policy->spec, NULL, NULL);
    want_rendered(p, RESOURCE_RUNTIMECLASS, RENDER_RUNTIME_CLASS, &ctx, "", NULL);
}

/* Followers are needed if nodes have a stack of Ostler's. */
static void want_followers(struct pass *p)
{
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->class == OPERAND_CLASS_FOLLOWER &&
            tally_nodes(p->v->tally, "stack", NULL, TALLY_CARRYING) > 0 &&
            policy_runs(p->v->policy, o->id))
            want_follower(p, o);
}

static bool wants_agent(const struct cluster_view *v)
{
    return v->agent_image && json_bool(v->policy->spec, "nodeAgent.enabled", true);
}

/* The agent depends on nothing else: without it, GPUs may stay undetected. */
static void want_agent(struct pass *p)
{
    if (!wants_agent(p->v))
        return;
    CLEANUP_JSON json_t *inputs = agent_inputs(p->v->policy->spec);
    struct render_context ctx = context(p, p->v->policy->spec, inputs, NULL);
    want_rendered(p, RESOURCE_DAEMONSET, RENDER_AGENT, &ctx, p->v->agent_image, NULL);
}

static bool children_is_wanted(const struct pass *p, const struct child *c)
{
    CLEANUP_FREE char *key = set_key(c->resource, child_name(c));
    return json_object_get(p->wanted, key) != NULL;
}

/* Whether the DaemonSet controller counts nodes for it, apart from nodes that are down. The watch
 * of nodes may lag behind that of DaemonSets. The deletion names the version as a guard, so this is
 * the API server's state at that moment. */
static bool is_asked_for(const struct tally *t, const struct child *c)
{
    size_t lost = tally_nodes(t, NULL, c->revision, TALLY_CARRYING) -
                  tally_nodes(t, NULL, c->revision, TALLY_CARRYING_UP);
    return c->resource == RESOURCE_DAEMONSET && c->desired > (int32_t) lost;
}

/* Whether the policy wants a follower, or an object that belongs to one, in no pool; or no node
 * asks for a follower's further DaemonSet. */
static bool is_switched_off(const struct policy *policy, const struct child *c)
{
    for (const struct render_other *r = render_others; r->name; r++)
        if (r->resource == c->resource && str_eq(r->name, child_name(c)))
            return r->operand != OPERAND_NONE &&
                   (!policy_runs(policy, r->operand) || !render_is_wished(r, policy->spec) ||
                    (c->resource == RESOURCE_DAEMONSET && c->counted && c->desired == 0));
    const struct operand_row *o = operand_get(operand_parse(child_name(c)));
    return c->resource == RESOURCE_DAEMONSET && o->class == OPERAND_CLASS_FOLLOWER &&
           !policy_runs(policy, o->id);
}

/* A tier's DaemonSet is deleted when no node carries its revision. Followers stay until the policy
 * switches them off, in a removal while any node has a stack, and while nothing is known. */
static bool may_go(const struct pass *p, const struct child *c)
{
    const struct cluster_view *v = p->v;
    if (!v->settled)
        return false;
    if (c->resource == RESOURCE_REVISION)
        return !cluster_has_daemonset(v, c);
    bool removing = v->mode == MODE_REMOVE;
    unsigned carrying = removing ? TALLY_CARRYING_UP : TALLY_CARRYING;
    if (c->revision && cluster_is_daemonset_of(c, OPERAND_REMOVAL))
        return !is_asked_for(v->tally, c);
    /* Also a DaemonSet whose record is lost, so that its content is not known: it keeps running. */
    if (c->revision)
        return tally_nodes(v->tally, NULL, c->revision, carrying) == 0 &&
               !is_asked_for(v->tally, c);
    /* The agent reports what still uses a driver that will be removed. */
    if (cluster_is_daemonset_of(c, OPERAND_AGENT))
        return removing ? tally_nodes(v->tally, "driver", NULL, carrying) == 0 : !wants_agent(v);
    if (removing)
        return tally_nodes(v->tally, "stack", NULL, carrying) == 0;
    return is_switched_off(v->policy, c);
}

static size_t delete_unwanted(struct pass *p)
{
    size_t left = 0;
    for (size_t i = 0; i < p->v->child_count; i++) {
        const struct child *c = p->v->children[i];
        if (!child_is_ours(c) || c->resource == RESOURCE_CONFIGMAP || children_is_wanted(p, c))
            continue;
        left++;
        if (c->deleting || !may_go(p, c))
            continue;
        CLEANUP_FREE char *target = set_key(c->resource, child_name(c));
        const char *name = child_name(c), *ns = namespace_of(p, c->resource);
        action_add(
            p->actions, request_delete(c->resource, ns, name, RECORD_UID(&c->head), c->head.rv),
            VERB_DELETE, target, REASON_UNNEEDED, "no node needs the object: Ostler deletes it");
    }
    return left;
}

size_t children_plan(const struct cluster_view *v, struct actions *actions, struct err *e)
{
    struct pass p = { .v = v, .actions = actions, .e = e, .wanted = json_object() };
    if (v->mode == MODE_MANAGE) {
        want_agent(&p);
        want_runtime_class(&p);
    }
    want_revisions(&p);
    if (v->mode == MODE_MANAGE)
        want_followers(&p);
    size_t left = delete_unwanted(&p);
    json_decref(p.wanted);
    return left;
}
