#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "kube/object.h"
#include "kube/record.h"
#include "kube/selector.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/decide/node_steps.h"
#include "tests/sweep/checks.h"

enum {
    STATUS_MAX = 32 * 1024,
    MESSAGE_MAX = 1024,
    /* Writes of one object within a minute: the status follows a busy cluster once a second. */
    PACE_MS = 60 * 1000,
    PACE_MAX = 80,
};

/* How often an object was written lately. */
struct pace {
    char *key;
    int64_t since_ms;
    unsigned writes;
};

/* When something last happened. */
struct moment {
    int64_t at_ms;
    char key[];
};

void check_note(const struct invariants *v, struct map *m, const char *key)
{
    struct moment *is = map_get(m, key);
    if (!is) {
        size_t size = strlen(key) + 1;
        is = xcalloc(1, sizeof *is + size);
        memcpy(is->key, key, size);
        map_put(m, is->key, is);
    }
    is->at_ms = v->run->sim.now_ms;
}

int64_t check_noted(const struct map *m, const char *key)
{
    const struct moment *is = map_get(m, key);
    return is ? is->at_ms : -1;
}

void check_notes_clear(struct map *m)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(m, &cursor)))
        free(e->value);
    map_clear(m);
}

void checks_state_clear(struct invariants *v)
{
    check_notes_clear(&v->deletions);
    check_notes_clear(&v->assignments);
    check_notes_clear(&v->services);
    check_notes_clear(&v->plans);
    check_notes_clear(&v->approvals);
    check_notes_clear(&v->failures);
    check_notes_clear(&v->prerequisites);
    check_notes_clear(&v->transitions);
    check_notes_clear(&v->answers);
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->pace, &cursor))) {
        struct pace *p = e->value;
        free(p->key);
        free(p);
    }
    map_clear(&v->pace);
}

/* ---- what is really there */

static bool is_ready(const json_t *object)
{
    return str_eq(check_condition(object, "Ready"), "True");
}

/* Whether a pod of an operand is up on a node. */
static bool operand_is_up(const struct invariants *v, const char *node, enum operand component)
{
    const struct kind *pods = kind_named("pods");
    for (size_t i = 0; i < api_count(v->run->api, pods); i++) {
        const json_t *pod = api_at(v->run->api, pods, i);
        if (str_eq(json_str(pod, "spec.nodeName"), node) &&
            str_eq(object_label(pod, LABEL_COMPONENT), operand_name(component)) &&
            str_eq(object_namespace(pod), OPERAND_NAMESPACE) && is_ready(pod) &&
            !object_is_deleting(pod))
            return true;
    }
    return false;
}

static bool is_set(const json_t *node, const char *key)
{
    const char *value = object_label(node, key);
    return value && *value;
}

/* The operand that a node's assignment asks for and that is not up; OPERAND_NONE: all are. */
static enum operand missing_operand(const struct invariants *v, const json_t *node)
{
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        enum operand c = o->id;
        CLEANUP_FREE char *label = xasprintf(MARK_PREFIX "%s", str_or_empty(operand_tier_name(o)));
        bool off = c == OPERAND_TOOLKIT; /* a policy may leave it out */
        if (o->class == OPERAND_CLASS_TIER && !off && is_set(node, label) &&
            !operand_is_up(v, object_name(node), c))
            return c;
    }
    return OPERAND_NONE;
}

/* A node on its way under a claim, whose operands are not expected to be up. */
static bool is_moving(const json_t *node)
{
    struct reading_claim claim;
    return check_claim_of(node, &claim) && !str_eq(claim.phase, "Failed");
}

bool check_served(const struct invariants *v, bool moving_too, char **ret_why)
{
    const struct kind *nodes = kind_named("nodes");
    struct selector wanted = { 0 }; /* a node that is being let go need not be served */
    bool served = true;
    selector_compile(json_at(check_policy(v), "spec.nodes.selector"), &wanted, NULL);
    for (size_t i = 0; served && i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        if (!is_ready(node) || object_is_deleting(node) || (!moving_too && is_moving(node)) ||
            check_is_unhealthy(node) || /* with a GPU that is broken operands may be, too */
            !selector_matches(&wanted, selector_lookup_json, json_at(node, "metadata.labels")))
            continue;
        enum operand c = missing_operand(v, node);
        served = c == OPERAND_NONE;
        if (!served && ret_why)
            *ret_why = xasprintf("%s of %s is not up", operand_name(c), object_name(node));
    }
    selector_clear(&wanted);
    return served;
}

/* ---- S3, S8, S9 */

void check_assigned_sent(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    (void) c;
    if (request_deletes(r) && r->resource == RESOURCE_DAEMONSET)
        check_note(v, &v->deletions, r->path);
}

static void note_assignment(struct invariants *v, const struct api_commit *c)
{
    static const char *const assignment[] = { LABEL_DRIVER, LABEL_STACK };
    for (size_t i = 0; c->after && i < ARRAY_LEN(assignment); i++)
        if (!str_eq(object_label(c->before, assignment[i]), object_label(c->after, assignment[i])))
            check_note(v, &v->assignments, object_name(c->after));
}

/* Its pods go with it: on a node that was assigned to it when the deletion was sent the driver
 * would be taken from under whatever runs there. */
void check_assigned(struct invariants *v, const struct api_commit *c)
{
    if (check_is_kind(c->kind, "nodes"))
        note_assignment(v, c);
    if (!check_is_kind(c->kind, "daemonsets") || c->after || !object_label(c->before, LABEL_TIER))
        return;
    check_tried(v, INVARIANT_S3_ASSIGNED);
    const struct kind *nodes = kind_named("nodes");
    CLEANUP_FREE char *label = xasprintf(MARK_PREFIX "%s", object_label(c->before, LABEL_TIER));
    CLEANUP_FREE char *path = xasprintf("/apis/apps/v1/namespaces/%s/daemonsets/%s",
                                        object_namespace(c->before), object_name(c->before));
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        if (str_eq(object_label(node, label), object_label(c->before, LABEL_REVISION)) &&
            check_noted(&v->assignments, object_name(node)) < check_noted(&v->deletions, path))
            check_failed(v, INVARIANT_S3_ASSIGNED, "%s, with %s", object_name(c->before),
                         object_name(node));
    }
}

void check_generation(struct invariants *v, const struct api_commit *c)
{
    static const char *const assignment[] = { LABEL_DRIVER, LABEL_STACK };
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after)
        return;
    for (size_t i = 0; i < ARRAY_LEN(assignment); i++) {
        const char *is = object_label(c->after, assignment[i]);
        if (!is || !*is || str_eq(is, object_label(c->before, assignment[i])))
            continue;
        check_tried(v, INVARIANT_S8_GENERATION);
        if (!object_has_finalizer(check_policy(v), POLICY_FINALIZER))
            check_failed(v, INVARIANT_S8_GENERATION, "%s=%s on %s", assignment[i], is,
                         object_name(c->after));
    }
}

void check_honesty_commit(struct invariants *v, const struct api_commit *c)
{
    if (check_is_kind(c->kind, "gpuclusterpolicies")) {
        int64_t generation = c->after ? object_generation(c->after) : 0;
        if (generation != v->generation)
            v->served_since = false;
        v->generation = generation;
    }
    if (!v->served_since && (check_is_kind(c->kind, "pods") || check_is_kind(c->kind, "nodes") ||
                             check_is_kind(c->kind, "gpuclusterpolicies")))
        v->served_since = check_served(v, false, NULL);
}

void check_honesty(struct invariants *v, const struct api_commit *c)
{
    bool says = check_is_kind(c->kind, "gpuclusterpolicies") && c->after &&
                str_eq(check_condition(c->after, "Ready"), "True");
    /* What is said of the policy as it was before the last edit is true of that. */
    bool of_this = says && json_int(c->after, "status.observedGeneration", 0) ==
                               object_generation(c->after);
    if (!of_this || (c->before && str_eq(check_condition(c->before, "Ready"), "True")))
        return;
    check_tried(v, INVARIANT_S9_HONESTY);
    CLEANUP_FREE char *why = NULL;
    if (!v->served_since && !check_served(v, false, &why))
        check_failed(v, INVARIANT_S9_HONESTY, "%s", why);
}

void check_counts(struct invariants *v, const struct api_commit *c)
{
    const json_t *nodes = check_is_kind(c->kind, "gpuclusterpolicies")
                              ? json_at(c->after, "status.nodes")
                              : NULL;
    if (!nodes)
        return;
    check_tried(v, INVARIANT_S9_COUNTS);
    int64_t managed = json_int(nodes, "managed", -1), sum = 0;
    size_t i;
    json_t *state;
    json_array_foreach (json_object_get(nodes, "states"), i, state)
        sum += json_int(state, "count", 0);
    if (json_int(nodes, "upToDate", 0) + json_int(nodes, "outdated", 0) != managed ||
        json_int(nodes, "ready", 0) > managed || managed > json_int(nodes, "total", 0) ||
        sum > json_int(nodes, "total", 0)) {
        CLEANUP_FREE char *text = json_compact(nodes);
        check_failed(v, INVARIANT_S9_COUNTS, "%s", text);
    }
}

/* ---- S12, S14 */

void check_once(struct invariants *v, const struct api_commit *c)
{
    if (check_is_kind(c->kind, "events"))
        return;
    check_tried(v, INVARIANT_S12_ONCE);
    const json_t *object = c->after ? c->after : c->before;
    CLEANUP_FREE char *key = xasprintf("%s/%s/%s", c->kind->plural, object_namespace(object),
                                       object_name(object));
    struct pace *p = map_get(&v->pace, key);
    if (!p) {
        p = xcalloc(1, sizeof *p);
        p->key = TAKE(key);
        map_put(&v->pace, p->key, p);
    }
    int64_t now = v->run->sim.now_ms;
    if (now - p->since_ms > PACE_MS)
        *p = (struct pace){ .key = p->key, .since_ms = now };
    if (++p->writes > PACE_MAX)
        check_failed(v, INVARIANT_S12_ONCE, "%s, more than %d times in %d s", p->key, PACE_MAX,
                     PACE_MS / 1000);
}

void check_bounds(struct invariants *v, const struct api_commit *c)
{
    if (!c->after)
        return;
    check_tried(v, INVARIANT_S14_BOUNDS);
    if (check_is_kind(c->kind, "events") &&
        strlen(json_str_or_empty(c->after, "note")) > MESSAGE_MAX)
        check_failed(v, INVARIANT_S14_BOUNDS, "event %s", json_str(c->after, "note"));
    if (!check_is_kind(c->kind, "gpuclusterpolicies"))
        return;
    const json_t *status = json_at(c->after, "status");
    size_t i;
    json_t *condition;
    if (status && json_dumpb(status, NULL, 0, JSON_COMPACT) > STATUS_MAX)
        check_failed(v, INVARIANT_S14_BOUNDS, "the status has more than %d bytes", STATUS_MAX);
    json_array_foreach (json_object_get(status, "conditions"), i, condition)
        if (strlen(json_str_or_empty(condition, "message")) > MESSAGE_MAX)
            check_failed(v, INVARIANT_S14_BOUNDS, "the condition %s", json_str(condition, "type"));
}

/* ---- when all is quiet */

void check_unload(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        struct actors_machine m;
        const char *name = object_name(api_at(v->run->api, nodes, i));
        if (!actors_machine(v->run->actors, name, &m))
            continue;
        check_tried(v, INVARIANT_UNLOAD);
        if (m.unloads_under_use)
            check_failed(v, INVARIANT_UNLOAD, "%s", name);
    }
}

void check_status(struct invariants *v)
{
    const json_t *policy = check_policy(v);
    if (!policy || v->run->plan->deny_verb)
        return;
    check_tried(v, INVARIANT_L1_STATUS);
    if (json_int(policy, "status.observedGeneration", 0) != object_generation(policy))
        check_failed(v, INVARIANT_L1_STATUS, "generation %lld, observed %lld",
                     (long long) object_generation(policy),
                     (long long) json_int(policy, "status.observedGeneration", 0));
}

void check_nodes(struct invariants *v)
{
    const json_t *policy = check_policy(v);
    if (!policy || object_is_deleting(policy) || v->run->plan->deny_verb ||
        life_is_broken(v->run->life, policy))
        return;
    check_tried(v, INVARIANT_L1_NODES);
    CLEANUP_FREE char *why = NULL;
    if (!check_served(v, true, &why))
        check_failed(v, INVARIANT_L1_NODES, "%s", why);
}

static void check_all_off(struct invariants *v, const char *plural)
{
    const struct kind *k = kind_named(plural);
    for (size_t i = 0; i < api_count(v->run->api, k); i++) {
        const json_t *object = api_at(v->run->api, k, i);
        bool marked = object_annotation(object, ANNOTATION_MARKS) ||
                      object_label(object, LABEL_DRIVER) || object_label(object, LABEL_STACK) ||
                      object_label(object, LABEL_REMOVAL) || object_label(object, LABEL_EXPORTER) ||
                      object_label(object, LABEL_NODE_CARDS);
        bool child = str_eq(object_label(object, LABEL_MANAGED_BY), MANAGED_BY) &&
                     !object_controller(object);
        bool faulty = object_annotation(object, ANNOTATION_FAULT) ||
                      check_has_taint(object, TAINT_UNHEALTHY) ||
                      *check_condition(object, NODE_CONDITION_HEALTH);
        if (marked || child || faulty || *check_condition(object, NODE_CONDITION))
            check_failed(v, INVARIANT_L5_REMOVAL, "%s %s", plural, object_name(object));
    }
}

/* Unless it was said that it stays: no container runtime of a machine that is up is what a toolkit
 * made of it. */
static void check_runtimes(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes"), *events = kind_named("events");
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const char *name = object_name(api_at(v->run->api, nodes, i));
        struct actors_machine m;
        bool said = false;
        if (!actors_machine(v->run->actors, name, &m) || !m.up || !m.configured)
            continue;
        for (size_t k = 0; k < api_count(v->run->api, events); k++) {
            const json_t *event = api_at(v->run->api, events, k);
            said |= str_eq(json_str(event, "involvedObject.name"), name) &&
                    str_eq(json_str(event, "reason"), reason_text(REASON_RUNTIME_NOT_CLEANED));
        }
        if (!said)
            check_failed(v, INVARIANT_L5_REMOVAL, "the container runtime of %s", name);
    }
}

void check_removal(struct invariants *v)
{
    static const char *const kinds[] = { "nodes",      "gpunodes",
                                         "daemonsets", "controllerrevisions",
                                         "services",   "runtimeclasses" };
    if (check_policy(v) || v->run->plan->deny_verb)
        return;
    check_tried(v, INVARIANT_L5_REMOVAL);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        check_all_off(v, kinds[i]);
    check_runtimes(v);
}

/* Every object of a kind is known, in its newest version, and no other. */
static void compare_cache(struct invariants *v, const struct cluster *cluster, enum resource_id id)
{
    const struct table *table = &cluster->tables[id];
    const struct kind *k = kind_named(resource_get(id)->plural);
    if (table->records.len != api_count(v->run->api, k))
        check_failed(v, INVARIANT_L7_CACHE, "%zu %s are known, %zu are there", table->records.len,
                     k->plural, api_count(v->run->api, k));
    for (size_t i = 0; i < api_count(v->run->api, k); i++) {
        const json_t *object = api_at(v->run->api, k, i);
        CLEANUP_FREE char *key = record_key(object);
        const struct record *r = table_get(table, key);
        if (!r || !str_eq(RECORD_UID(r), object_uid(object)) || r->rv != object_rv(object))
            check_failed(v, INVARIANT_L7_CACHE, "%s %s is known %s", k->plural, key,
                         r ? "as it was" : "not at all");
    }
}

void check_cache(struct invariants *v)
{
    for (size_t i = 0; i < v->run->replicas; i++) {
        const struct engine *engine = process_engine(v->run->ostlers[i]);
        if (!engine || !engine_working(engine) || v->run->plan->deny_verb)
            continue;
        check_tried(v, INVARIANT_L7_CACHE);
        compare_cache(v, engine_cluster(engine), RESOURCE_NODE);
        compare_cache(v, engine_cluster(engine), RESOURCE_POLICY);
    }
}
