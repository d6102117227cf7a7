/* Begins and ends a cluster; how objects become its records, and what each change enqueues. */
#include "reconcilers/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/record.h"
#include "reconcilers/cluster_brake.h"
#include "reconcilers/cluster_budgets.h"
#include "reconcilers/cluster_failures.h"
#include "reconcilers/cluster_foreign.h"
#include "reconcilers/cluster_policy.h"
#include "reconcilers/cluster_shown.h"
#include "reconcilers/projections.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/pod_text.h"
#include "reconcilers/model/pod_whole.h"
#include "reconcilers/model/foreign.h"
#include "reconcilers/decide/records.h"

static void enqueue_node(struct cluster *c, const char *name)
{
    c->o.listener.node(c->o.listener.arg, name);
}

static void enqueue_policy(struct cluster *c, bool soon)
{
    c->o.listener.policy(c->o.listener.arg, soon);
}

/* ---- nodes */

/* Index of the slot in name order, or where it belongs: gpu-2 sorts before gpu-10. */
static size_t cluster_tables_place_of(const struct cluster *c, const char *name, size_t count)
{
    size_t first = 0;
    while (first < count) {
        size_t middle = first + (count - first) / 2;
        if (strverscmp(c->by_name[middle]->name, name) < 0)
            first = middle + 1;
        else
            count = middle;
    }
    return first;
}

static void enter_slot(struct cluster *c, struct node_slot *slot)
{
    size_t count = c->slots.len, at = cluster_tables_place_of(c, slot->name, count);
    map_put(&c->slots, slot->name, slot);
    if ((count & (count - 1)) == 0) /* full, at 0, 1, 2, 4, … */
        c->by_name = xreallocarray(c->by_name, count ? 2 * count : 1, sizeof(struct node_slot *));
    memmove(&c->by_name[at + 1], &c->by_name[at], (count - at) * sizeof(struct node_slot *));
    c->by_name[at] = slot;
}

static void leave_slot(struct cluster *c, const struct node_slot *slot)
{
    size_t count = c->slots.len, at = cluster_tables_place_of(c, slot->name, count);
    memmove(&c->by_name[at], &c->by_name[at + 1], (count - at - 1) * sizeof(struct node_slot *));
    map_remove(&c->slots, slot->name);
}

static struct node_slot *slot_of(struct cluster *c, const char *name)
{
    struct node_slot *slot = map_get(&c->slots, name);
    if (!slot) {
        slot = xcalloc(1, sizeof *slot + strlen(name) + 1);
        slot->name = strcpy((char *) (slot + 1), name);
        slot->summary.name = slot->name;
        enter_slot(c, slot);
    }
    return slot;
}

static void forget_reading(struct node_slot *slot)
{
    free(slot->read.claim);
    slot->read = (struct node_reading){ 0 };
}

static void slot_free(struct cluster *c, struct node_slot *slot)
{
    cluster_refusal_over(c, slot);
    free(slot->read.claim);
    free(slot->toolkit.stopped_by);
    log_tail_free(slot->words);
    free(slot->hole);
    free(slot);
}

static void forget_slot(struct cluster *c, struct node_slot *slot)
{
    if (slot->node || slot->pods)
        return;
    leave_slot(c, slot);
    slot_free(c, slot);
}

static struct node *node_of(const struct cluster *c, const json_t *object)
{
    struct node *n = node_project(c->strings, object);
    const struct record *before = table_get(&c->tables[RESOURCE_NODE], n->head.key);
    node_keep_runtime(c->strings, n, (const struct node *) before);
    return n;
}

CLUSTER_PROJECTION(node_from, node_of(c, object))

static struct frame_hash *node_hash(struct record *r)
{
    return &((struct node *) r)->text_hash;
}

static struct record *relabelled(void *arg, const struct record *held, const json_t *labels)
{
    const struct cluster *c = arg;
    return &node_relabelled(c->strings, (const struct node *) held, labels)->head;
}
CLUSTER_RECORD(node, node_same, node_free(c->strings, r))

static void drop_node(struct cluster *c, struct node_slot *slot)
{
    slot->node = NULL;
    c->node_count--;
    if (slot->epoch != c->epoch)
        c->pending--;
    slot->epoch = 0;
    slot->stages = (struct node_stages){ 0 };
    log_tail_free(TAKE(slot->words));
    free(slot->toolkit.stopped_by);
    slot->toolkit = (struct toolkit_turn){ 0 };
    free(TAKE(slot->hole));
    cluster_refusal_over(c, slot);
    forget_reading(slot);
    cluster_brake_forget(c, slot);
    tally_remove(&c->tally, &slot->summary);
    cluster_enqueue_report(c, slot->name);
    cluster_shown(c, slot->name);
    if (slot->pods)
        enqueue_node(c, slot->name); /* its one-off pods, which nothing else would delete */
    forget_slot(c, slot);
    enqueue_policy(c, false);
    cluster_enqueue_rollout(c);
}

/* Whether Ostler's last labels and taints are gone, which a policy's deletion waits for. */
static bool was_cleaned(const struct node *was, const struct node *is)
{
    return cluster_bears_ours(was) && !cluster_bears_ours(is);
}

/* Labels whose values rollout decisions use. */
static bool same_labels(const struct cluster *c, const struct node *was, const struct node *is)
{
    const struct node_view a = cluster_view(c, was), b = cluster_view(c, is);
    const char *domain = c->policy_valid ? c->rollout.topology_key : NULL;
    return assignment_same(node_assigned(&a), node_assigned(&b)) &&
           str_eq(node_label(&a, LABEL_HOLD), node_label(&b, LABEL_HOLD)) &&
           (!domain || str_eq(node_label(&a, domain), node_label(&b, domain)));
}

/* What the rollout uses of a node besides its verdict. */
static bool matters_to_rollout(const struct cluster *c, const struct node *was,
                               const struct node *is)
{
    return was->ready != is->ready || was->cordoned != is->cordoned ||
           was->leaving != is->leaving || was->gpus != is->gpus || was->claim != is->claim ||
           was->gave_up != is->gave_up || was->taints != is->taints || was->marks != is->marks ||
           !same_labels(c, was, is);
}

/* Whether the node's pass may have another result. */
static bool matters_to_pass(const struct cluster *c, const struct node *was, const struct node *is)
{
    return !record_same_uid(&was->head, &is->head) || !node_same_but_labels(was, is) ||
           !node_same_read_labels(c->reads, c->strings, was, is);
}

static void node_changed(void *arg, struct record *before, struct record *after)
{
    struct cluster *c = arg;
    struct node_slot *slot = slot_of(c, before ? before->key : after->key);
    if (!after) {
        drop_node(c, slot);
        return;
    }
    if (!slot->node) {
        c->node_count++;
        c->pending++;
    }
    slot->node = (struct node *) after;
    if (before && ((const struct node *) before)->leaving && !slot->node->leaving)
        slot->stays_s = cluster_now_s(c);
    forget_reading(slot);
    if (!before || matters_to_pass(c, (const struct node *) before, slot->node))
        enqueue_node(c, slot->name);
    cluster_shown_node(c, (const struct node *) before, slot->node);
    if (before && was_cleaned((const struct node *) before, slot->node))
        enqueue_policy(c, false);
    if (before && matters_to_rollout(c, (const struct node *) before, slot->node))
        cluster_enqueue_rollout(c);
}

/* ---- pods */

static const struct node_holders *holders_in(const struct record *r)
{
    return r ? ((const struct gpu_node *) r)->holders : NULL;
}

/* Whether the agent of a node reports that a pod holds a GPU open. As pod_text_holds_fn. */
static bool holds(const void *arg, const char *node, uint64_t uid)
{
    const struct cluster *c = arg;
    return node_holders_have(holders_in(table_get(&c->tables[RESOURCE_GPU_NODE], node)), uid);
}

static bool is_holder(const struct cluster *c, const json_t *object)
{
    return holds(c, json_str_or_empty(object, "spec.nodeName"), str_hash_id(object_uid(object)));
}

/* What the readers of a pod's text ask. */
static struct pod_text_asks asks_of(const struct cluster *c)
{
    return (struct pod_text_asks){ c->o.operand_namespace, holds, c };
}

/* Whether pod_of() may look at the pod, or make a record of it. */
static bool pod_matters(void *arg, const char *text, size_t len)
{
    const struct cluster *c = arg;
    const struct pod_text_asks asks = asks_of(c);
    return c->all_pods || pod_text_matters(&asks, text, len);
}

/* Ostler's own pods stay: one works there, and the others would come back, for they tolerate the
 * taint. They differ in what follows the last dash. */
static bool is_own_pod(const struct cluster *c, const char *key)
{
    const char *own = c->o.own_pod, *end = own ? strrchr(own, '-') : NULL;
    size_t same = end ? (size_t) (end - own) + 1 : 0;
    return str_eq(key, own) || (same && strncmp(key, own, same) == 0 && !strchr(key + same, '-'));
}

/* What pod_of() would make of the pod. */
static bool pod_read(void *arg, const char *text, size_t len, struct table_reading *ret)
{
    const struct cluster *c = arg;
    const struct pod_text_asks asks = asks_of(c);
    struct pod_whole whole;
    if (!pod_whole_read(c->strings, &asks, text, len, &whole) || (!whole.pod && c->all_pods))
        return false;
    ret->record = (struct record *) whole.pod;
    memcpy(ret->key, whole.key, sizeof ret->key);
    return true;
}

/* A failed pod is looked at and not cached. */
static struct pod *pod_of(struct cluster *c, const json_t *object)
{
    cluster_failures_look(c, object);
    if (pod_is_over(object))
        return NULL;
    bool any = c->all_pods || is_holder(c, object);
    CLEANUP_FREE char *key = any ? record_key(object) : NULL;
    any = any && !is_own_pod(c, key);
    const struct selector *asks = c->o.all_labels ? NULL : &c->pod_selector;
    return (any ? pod_project_any : pod_project)(c->strings, c->o.operand_namespace, asks, object);
}

CLUSTER_PROJECTION(pod_from, pod_of(c, object))
CLUSTER_PROJECTION(task_from, pod_project_task(c->strings, c->o.operand_namespace, object))
CLUSTER_RECORD(pod, pod_same, pod_free(c->strings, r))

static void unlink_pod(struct cluster *c, struct pod *p)
{
    const char *name = intern_text(c->strings, p->node);
    struct node_slot *slot = name ? map_get(&c->slots, name) : NULL;
    if (!slot)
        return;
    struct pod **at = &slot->pods;
    while (*at && *at != p)
        at = &(*at)->next_on_node;
    if (*at) {
        *at = p->next_on_node;
        slot->used -= p->gpus;
    }
    slot->pods_epoch = 0;
    if (slot->node)
        enqueue_node(c, slot->name);
    forget_slot(c, slot);
}

static void link_pod(struct cluster *c, struct pod *p)
{
    const char *name = intern_text(c->strings, p->node);
    if (!name)
        return;
    struct node_slot *slot = slot_of(c, name);
    p->next_on_node = slot->pods;
    slot->pods = p;
    slot->used += p->gpus;
    slot->pods_epoch = 0;
    if (slot->node)
        enqueue_node(c, slot->name);
}

/* The rollout waits for images, which only these pods show. */
static bool pulls(const struct record *r)
{
    const struct task *t = r ? pod_task((const struct pod *) r) : NULL;
    return t && t->kind == TASK_PULL;
}

/* Whether a tainted node, or one about to change, may wait for this pod. Operands come and go in
 * phases that do not concern the rollout. */
static bool is_in_the_way(const struct cluster *c, const struct record *r)
{
    const struct pod *p = (const struct pod *) r;
    const char *name = p && p->component == OPERAND_NONE && !p->is_task
                           ? intern_text(c->strings, p->node)
                           : NULL;
    const struct node_slot *slot = name ? map_get(&c->slots, name) : NULL;
    return slot && slot->node && (slot->node->claim || slot->summary.outdated);
}

static void pod_changed(void *arg, struct record *before, struct record *after)
{
    struct cluster *c = arg;
    bool matters = pulls(before) || pulls(after) || is_in_the_way(c, before) ||
                   is_in_the_way(c, after);
    cluster_failures_moved(c, (struct pod *) before, (struct pod *) after);
    cluster_shown_pod(c, (const struct pod *) before, (const struct pod *) after);
    if (before)
        unlink_pod(c, (struct pod *) before);
    if (after)
        link_pod(c, (struct pod *) after);
    if (matters)
        cluster_enqueue_rollout(c);
}

/* ---- children */

#define CHILD_TABLES(X)                                                                            \
    X(DAEMONSET) X(REVISION) X(SERVICE) X(CONFIGMAP) X(RUNTIMECLASS) X(SERVICEMONITOR)

#define X(id) CLUSTER_PROJECTION(child_from_##id, child_project(RESOURCE_##id, object))
CHILD_TABLES(X)
#undef X
CLUSTER_RECORD(child, child_same, child_free(r))

/* Only its controller's counts have changed: the status may wait. */
static bool only_counts(const struct child *a, const struct child *b)
{
    return a && b && a->resource == RESOURCE_DAEMONSET && a->generation == b->generation &&
           str_eq(a->intent, b->intent) && !a->kept_managers == !b->kept_managers &&
           a->deleting == b->deleting && str_eq(a->policy_uid, b->policy_uid);
}

/* Whether a node waits for this revision, or does without it because it failed. */
static bool lacks_revision(const struct node_slot *slot, const char *hash)
{
    const struct node_summary *s = &slot->summary;
    bool lacks = false;
    for (enum tier t = 0; t < TIERS && s->counted; t++) {
        bool waits = s->of[t].target && s->of[t].target != s->of[t].carried &&
                     str_eq(s->of[t].target->hash, hash);
        lacks |= waits || (s->falling_back && str_eq(s->policy_target.hash[t], hash));
    }
    return lacks;
}

/* The report of such a node says what the record does: since when the policy wants the revision,
 * and how it failed. */
static void record_changed(const struct cluster *c, const struct child *was, const struct child *is)
{
    if (was && is && json_equal(was->annotations, is->annotations))
        return;
    MAP_EACH (e, &c->slots)
        if (lacks_revision(e->value, is ? is->revision : was->revision))
            cluster_enqueue_report(c, e->key);
}

static void child_changed(void *arg, struct record *before, struct record *after)
{
    struct cluster *c = arg;
    const struct child *was = (const struct child *) before, *is = (const struct child *) after;
    const struct child *any = is ? is : was;
    if (any->resource == RESOURCE_CONFIGMAP && c->policy_valid) {
        /* Device plugin configurations may have changed: compute the targets again. */
        targets_free(TAKE(c->targets));
        cluster_new_epoch(c);
        return;
    }
    bool record = any->resource == RESOURCE_REVISION;
    if (record && (!was || !is))
        cluster_shown_all(c); /* its version is known now, or no longer */
    if (record && c->policy_valid && !record_standing_same(was, is)) {
        /* Known good revisions may have changed. Until every node has been reconciled with that,
         * the policy's targets are not known. */
        targets_free(TAKE(c->targets));
        cluster_new_epoch(c);
    } else if (record && (!was || !is)) {
        /* Nodes that wait for the new record, or that lost theirs. */
        cluster_enqueue_nodes(c);
    }
    enqueue_policy(c, !only_counts(was, is));
    if (!record)
        return;
    record_changed(c, was, is);
    cluster_enqueue_rollout(c);
}

/* ---- reports */

CLUSTER_PROJECTION(report_from, gpu_node_project(object))
CLUSTER_RECORD(gpu_node, gpu_node_same, gpu_node_free(r))

static const struct node_inventory *inventory_in(const struct record *r)
{
    return r ? ((const struct gpu_node *) r)->inventory : NULL;
}

/* Holders of a GPU matter only when something is about to change. */
static void holders_changed(struct cluster *c, struct node_slot *slot)
{
    slot->pods_epoch = 0;
    if (slot->node->claim || slot->summary.outdated || slot->summary.state != NODE_READY)
        enqueue_node(c, slot->name);
    if (slot->node->claim || slot->summary.outdated)
        cluster_enqueue_rollout(c);
}

/* Whether the facts about the health of a node's GPUs, or what Ostler concluded from them, are
 * others: they decide whether the node is closed. */
static bool is_health_other(const struct gpu_node *before, const struct gpu_node *after)
{
    const struct gpu_node none = { 0 };
    before = before ? before : &none;
    after = after ? after : &none;
    return !node_health_same(before->health, after->health) ||
           !health_status_same(before->concluded, after->concluded);
}

/* What a report had when Ostler first saw it is no news. */
static void report_health(const struct cluster *c, const struct node_slot *slot,
                          const struct gpu_node *before, const struct gpu_node *after)
{
    if (c->o.listener.health && after->health && !node_health_same(before->health, after->health))
        c->o.listener.health(c->o.listener.arg, slot, before, after);
}

static void report_changed(void *arg, struct record *before, struct record *after)
{
    struct cluster *c = arg;
    const char *name = after ? after->key : before->key;
    struct node_slot *slot = map_get(&c->slots, name);
    cluster_enqueue_report(c, name);
    cluster_shown_report(c, (const struct gpu_node *) before, (const struct gpu_node *) after);
    if (slot && slot->node && !node_holders_same(holders_in(before), holders_in(after)))
        holders_changed(c, slot);
    if (slot && slot->node &&
        (!node_inventory_same(inventory_in(before), inventory_in(after)) ||
         is_health_other((const struct gpu_node *) before, (const struct gpu_node *) after)))
        enqueue_node(c, name);
    if (!after)
        enqueue_policy(c, false);
    if (slot && slot->node && before && after)
        report_health(c, slot, (const struct gpu_node *) before, (const struct gpu_node *) after);
}

/* ---- all of them */

static void tables_init(struct cluster *c)
{
    const struct {
        enum resource_id id;
        struct table_ops ops;
    } rows[] = {
        { RESOURCE_NODE, { node_from, node_record_same, node_changed, node_record_free, c } },
        { RESOURCE_POD, { pod_from, pod_record_same, pod_changed, pod_record_free, c } },
        { RESOURCE_TASK, { task_from, pod_record_same, pod_changed, pod_record_free, c } },
        { RESOURCE_POLICY, cluster_policy_ops(c) },
        { RESOURCE_GPU_NODE,
          { report_from, gpu_node_record_same, report_changed, gpu_node_record_free, c } },
        { RESOURCE_BUDGET, cluster_budget_ops(c) },
        { RESOURCE_FOREIGN, cluster_foreign_ops(c) },
        { RESOURCE_SLICE, cluster_slice_ops(c) },
#define X(id)                                                                                      \
    { RESOURCE_##id, { child_from_##id, child_record_same, child_changed, child_record_free, c } },
        CHILD_TABLES(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        table_init(&c->tables[rows[i].id], &rows[i].ops);
    c->tables[RESOURCE_POD].matters = pod_matters;
    c->tables[RESOURCE_POD].read = pod_read;
    c->tables[RESOURCE_NODE].hash_of = node_hash;
    c->tables[RESOURCE_NODE].relabelled = relabelled;
}

void cluster_init(struct cluster *c, const struct cluster_options *o)
{
    *c = (struct cluster){
        .o = *o, .strings = intern_new(), .reads = xcalloc(1, sizeof *c->reads), .epoch = 1
    };
    c->began_us = c->own_began_us = clock_wall_us(o->clock) - clock_mono_ms(o->clock) * 1000;
    c->confirmed = json_object();
    recent_events_init(&c->recent);
    tables_init(c);
}

static void free_slots(struct cluster *c)
{
    MAP_EACH (e, &c->slots) {
        struct node_slot *slot = e->value;
        tally_remove(&c->tally, &slot->summary);
        slot_free(c, slot);
    }
    map_clear(&c->slots);
    map_clear(&c->refused);
    map_clear(&c->slices);
    free(TAKE(c->by_name));
}

void cluster_clear(struct cluster *c)
{
    brake_list_clear(&c->brake.unhealthy);
    brake_list_clear(&c->brake.closings);
    recent_events_clear(&c->recent);
    free_slots(c);
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (c->tables[i].ops.project)
            table_clear(&c->tables[i]);
    json_decref(c->confirmed);
    intents_clear(&c->intents);
    tally_clear(&c->tally);
    targets_free(c->targets);
    if (c->policy_valid)
        policy_clear(&c->policy);
    selector_clear(&c->pod_selector);
    policy_problems_clear(&c->problems);
    free(c->problem_text);
    json_decref(c->object);
    intern_free(c->strings);
    label_reads_clear(c->reads);
    free(c->reads);
}

struct node_view cluster_view(const struct cluster *c, const struct node *n)
{
    return (struct node_view){ n, c->strings, c->reads };
}

size_t cluster_informers(const struct cluster *c,
                         struct informer_options out[static RESOURCE_COUNT])
{
    const char *ns = c->o.operand_namespace;
    const struct informer_options rows[] = {
        /* A full removal must also work after the CRD is gone. */
        { .resource = RESOURCE_POLICY, .optional = c->o.remove_all },
        { .resource = RESOURCE_NODE },
        { .resource = RESOURCE_POD, .list = { .field_selector = POD_WATCH_FIELDS } },
        { .resource = RESOURCE_TASK, .list = { .ns = ns, .label_selector = LABEL_TASK } },
        { .resource = RESOURCE_DAEMONSET, .list = { .ns = ns } },
        /* With an older chart Ostler may not read these two. Slices exist since Kubernetes 1.34. */
        { .resource = RESOURCE_FOREIGN, .optional = true },
        { .resource = RESOURCE_SLICE,
          .list = { .field_selector = SLICE_FIELDS },
          .optional = true },
        /* The DaemonSet controller's own records have our pods' labels, but not this one. */
        { .resource = RESOURCE_REVISION, .list = { .ns = ns, .label_selector = LABEL_POLICY_UID } },
        { .resource = RESOURCE_SERVICE, .list = { .ns = ns } },
        { .resource = RESOURCE_CONFIGMAP, .list = { .ns = ns } },
        { .resource = RESOURCE_RUNTIMECLASS, .list = { .field_selector = "metadata.name=nvidia" } },
        { .resource = RESOURCE_SERVICEMONITOR, .list = { .ns = ns }, .optional = true },
        /* Nothing depends on them, so Ostler works without them: Helm does not upgrade CRDs. */
        { .resource = RESOURCE_GPU_NODE, .optional = true },
        { .resource = RESOURCE_BUDGET, .optional = true },
    };
    memcpy(out, rows, sizeof rows);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        out[i].view = projection_view(rows[i].resource);
        out[i].bare = projection_bare_view(rows[i].resource);
    }
    return ARRAY_LEN(rows);
}
