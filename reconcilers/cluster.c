#include "reconcilers/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/record.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/foreign.h"
#include "reconcilers/decide/holders.h"

bool cluster_rests_on(enum resource_id id)
{
    return id != RESOURCE_BUDGET;
}

bool cluster_synced(const struct cluster *c)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (c->informers[i] && cluster_rests_on((enum resource_id) i) &&
            informer_state(c->informers[i]).started && !informer_state(c->informers[i]).synced)
            return false;
    return true;
}

void cluster_enqueue_nodes(struct cluster *c)
{
    MAP_EACH (e, &c->slots)
        if (((const struct node_slot *) e->value)->node)
            c->o.listener.node(c->o.listener.arg, e->key);
}

void cluster_new_epoch(struct cluster *c)
{
    c->epoch++;
    c->epoch_began_ms = clock_mono_ms(c->o.clock);
    c->looked_through = false;
    /* At the start, no event reports that the policy is absent. */
    if (!c->object && !c->absent_since)
        c->absent_since = c->epoch_began_ms;
    c->pending = c->node_count;
    cluster_enqueue_nodes(c);
    c->o.listener.policy(c->o.listener.arg, true);
    cluster_enqueue_rollout(c);
}

/* Pods have timestamps of the API server. */
static void take_server_time(struct cluster *c)
{
    int64_t base_us = server_clock_base_us(&c->server_clock, c->own_began_us),
            ahead_s = (base_us - c->own_began_us) / 1000000;
    if (base_us == c->began_us)
        return;
    c->began_us = base_us;
    char by[32];
    snprintf(by, sizeof by, "%" PRId64 " s", ahead_s < 0 ? -ahead_s : ahead_s);
    log_warn(ahead_s < 0 ? "the clock of this machine is ahead of the API server's: Ostler uses "
                           "the API server's time"
                         : "the clock of this machine is behind the API server's: Ostler uses the "
                           "API server's time",
             "by", by);
}

void cluster_begin(struct cluster *c)
{
    take_server_time(c);
    c->watched_since_ms = clock_mono_ms(c->o.clock);
    /* A deletion that this replica saw on standby does not count: a new policy may exist that a
     * silent watch has not shown. */
    c->saw_deletion = false;
    /* An admin who has just installed the policy's CRD has also installed the report's. */
    if (c->informers[RESOURCE_GPU_NODE])
        informer_look_again(c->informers[RESOURCE_GPU_NODE], 0);
    cluster_new_epoch(c);
}

/* In whole seconds, rounded up. */
static int64_t silence_s(const struct cluster *c, enum resource_id resource)
{
    return (informer_state(c->informers[resource]).silent_ms + 999) / 1000;
}

void cluster_watched(const struct cluster *c, struct node_input *ret)
{
    int64_t nodes_s = silence_s(c, RESOURCE_NODE), pods_s = silence_s(c, RESOURCE_POD);
    ret->age_s = nodes_s > pods_s ? nodes_s : pods_s;
    ret->tasks_age_s = silence_s(c, RESOURCE_TASK);
    ret->watched_since_s = (c->began_us + c->watched_since_ms * 1000) / 1000000;
}

int64_t cluster_now_s(const struct cluster *c)
{
    return (c->began_us + clock_mono_ms(c->o.clock) * 1000) / 1000000;
}

int64_t cluster_wall_us(const struct cluster *c)
{
    int64_t wall_us = clock_wall_us(c->o.clock), wrong_us = c->began_us - c->own_began_us;
    int64_t set_us = wall_us - c->own_began_us - clock_mono_ms(c->o.clock) * 1000;
    /* An admin who sets a wrong clock first removes its error. */
    int64_t righted_us = (set_us < 0) != (wrong_us < 0)    ? 0
                         : llabs(set_us) < llabs(wrong_us) ? set_us
                                                           : wrong_us;
    return wall_us + wrong_us - righted_us;
}

int64_t cluster_heard_us(const struct cluster *c)
{
    int64_t silent_ms = 0;
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        if (!c->informers[i])
            continue;
        struct informer_state state = informer_state(c->informers[i]);
        if (state.problem && state.silent_ms > silent_ms)
            silent_ms = state.silent_ms;
    }
    return cluster_wall_us(c) - silent_ms * 1000;
}

void cluster_node_seen(struct cluster *c, struct node_slot *slot)
{
    if (slot->epoch == c->epoch)
        return;
    slot->epoch = c->epoch;
    if (--c->pending > 0)
        return;
    c->o.listener.policy(c->o.listener.arg, !c->looked_through);
    cluster_enqueue_rollout(c);
    c->looked_through = true;
}

/* Without a policy: decides whether, and when, that means that Ostler removes everything. */
static enum operating_mode mode_without_policy(const struct cluster *c, int64_t *ret_again_ms)
{
    if (c->saw_deletion)
        return MODE_REMOVE;
    /* Only a current cache proves that there is none. */
    if (!c->absent_since || informer_state(c->informers[RESOURCE_POLICY]).problem)
        return MODE_HOLD;
    int64_t left = c->absent_since + c->o.absent_grace_ms - clock_mono_ms(c->o.clock);
    if (left <= 0)
        return MODE_REMOVE;
    *ret_again_ms = left;
    return MODE_HOLD;
}

void cluster_enqueue_rollout(struct cluster *c)
{
    c->rollout_outdated = true;
    if (c->o.listener.rollout)
        c->o.listener.rollout(c->o.listener.arg);
}

void cluster_enqueue_report(const struct cluster *c, const char *name)
{
    const struct node_slot *slot = map_get(&c->slots, name);
    bool soon = !slot || !slot->node ||
                (slot->summary.counted && slot->summary.state == NODE_UNMANAGED);
    if (c->o.listener.report)
        c->o.listener.report(c->o.listener.arg, name, soon);
}

void cluster_enqueue_reports(const struct cluster *c)
{
    MAP_EACH (e, &c->slots)
        cluster_enqueue_report(c, e->key);
}

/* The report of a node that is down stays until the node is back and clean. */
static bool cluster_is_down(const struct node_slot *slot)
{
    return slot && slot->node && slot->summary.counted && slot->summary.state == NODE_LOST;
}

bool cluster_bears_ours(const struct node *n)
{
    return n->gpu_ready.status != CONDITION_ABSENT || n->gpu_healthy.status != CONDITION_ABSENT ||
           n->marks != INTERN_NONE;
}

size_t cluster_reports(const struct cluster *c)
{
    /* Until this is known, assume that there is one. */
    size_t n = c->informers[RESOURCE_GPU_NODE] &&
               informer_state(c->informers[RESOURCE_GPU_NODE]).looks;
    MAP_EACH (e, &c->tables[RESOURCE_GPU_NODE].records)
        n += !cluster_is_down(map_get(&c->slots, e->key));
    MAP_EACH (e, &c->slots) {
        const struct node *node = ((const struct node_slot *) e->value)->node;
        n += node && !node->deleting && cluster_bears_ours(node) && !cluster_is_down(e->value);
    }
    return n;
}

enum operating_mode cluster_mode(const struct cluster *c, int64_t *ret_again_ms)
{
    *ret_again_ms = 0;
    if (!cluster_synced(c))
        return MODE_HOLD;
    if (c->o.remove_all)
        return MODE_REMOVE;
    if (!c->object)
        return mode_without_policy(c, ret_again_ms);
    if (object_is_deleting(c->object))
        return MODE_REMOVE;
    return c->policy_valid ? MODE_MANAGE : MODE_HOLD;
}

static char *confirmation_key(enum resource_id resource, const char *key)
{
    return xasprintf("%s/%s", resource_get(resource)->plural, key);
}

static void confirm(struct cluster *c, enum resource_id resource, const json_t *object)
{
    CLEANUP_FREE char *key = record_key(object);
    CLEANUP_FREE char *name = confirmation_key(resource, key);
    int64_t generation = object_generation(object);
    json_object_set_new(c->confirmed, name,
                        json_integer(generation ? generation : (json_int_t) object_rv(object)));
}

bool cluster_confirmed(void *arg, const struct child *child)
{
    const struct cluster *c = arg;
    CLEANUP_FREE char *name = confirmation_key(child->resource, child->head.key);
    const json_t *version = json_object_get(c->confirmed, name);
    return version && json_integer_value(version) ==
                          (child->generation ? child->generation : (json_int_t) child->head.rv);
}

void cluster_doubt(struct cluster *c, enum resource_id resource, const char *target)
{
    const struct resource *r = resource_get(resource);
    const char *child = record_name(target);
    CLEANUP_FREE char *key = r->namespaced ? xasprintf("%s/%s", c->o.operand_namespace, child)
                                           : xstrdup(child);
    CLEANUP_FREE char *name = confirmation_key(resource, key);
    json_object_del(c->confirmed, name);
}

void cluster_written(struct cluster *c, enum resource_id resource, const json_t *object)
{
    if (!c->tables[resource].ops.project || !*object_uid(object))
        return;
    if (object_annotation(object, ANNOTATION_INTENT))
        confirm(c, resource, object);
    table_written(&c->tables[resource], object);
}

bool cluster_seen(struct cluster *c, enum resource_id resource, const json_t *object,
                  uint64_t list_rv)
{
    return *object_uid(object) && table_listed(&c->tables[resource], object, list_rv);
}

static bool is_agent_that_is_up(const struct pod *p)
{
    return p->component == OPERAND_AGENT && p->ready && !p->deleting;
}

static void add_removal(const struct cluster *c, const struct pod *p, struct node_pods *ret)
{
    ret->removal.present = true;
    if (p->ready && !p->deleting)
        ret->removal.ready = intern_text(c->strings, p->revision);
    ret->removal.problem = p->problem;
}

/* A new pod counts before an old pod that is terminating; otherwise the first by name counts. So
 * the order of events does not matter. */
static bool counts_before(const struct pod *p, bool other_going, const char *other_key)
{
    return p->deleting != other_going ? other_going : strcmp(p->head.key, other_key) < 0;
}

/* Keeps the first by name, so that the order of events does not matter. */
static void add_gpu_pod(struct node_pods *ret, const char *key)
{
    const char *put = key;
    for (size_t i = 0; i < GPU_PODS_NAMED && put; i++) {
        const char *there = i < ret->gpu_pods ? ret->gpu_pod[i] : NULL;
        if (there && strcmp(put, there) > 0)
            continue;
        ret->gpu_pod[i] = put;
        put = there;
    }
    ret->gpu_pods++;
}

/* Of several the last to come up counts, the device plugin: it decides who gives out the GPUs. */
static void add_foreign(const struct pod *p, struct node_pods *ret)
{
    const struct sign *sign = pod_foreign(p), *other = ret->foreign;
    bool counts = sign &&
                  (!other || sign->like > other->like ||
                   (sign->like == other->like && strcmp(p->head.key, ret->foreign_pod) < 0));
    if (!counts)
        return;
    ret->foreign = sign;
    ret->foreign_pod = p->head.key;
}

static void cluster_add_pod(const struct cluster *c, const struct pod *p,
                            const struct node_holders *holders, struct node_pods *ret)
{
    if (p->gpus || holders_unasked(holders, p)) {
        add_gpu_pod(ret, p->head.key);
        ret->gpus_taken += p->gpus;
    }
    ret->proof |= pod_task(p) && pod_task(p)->kind == TASK_PROOF;
    add_foreign(p, ret);
    ret->agent |= is_agent_that_is_up(p);
    if (p->component == OPERAND_REMOVAL)
        add_removal(c, p, ret);
    if (p->component == OPERAND_NONE)
        return;
    __auto_type of = &ret->of[p->component];
    if (of->present && !counts_before(p, of->going, of->key))
        return;
    ret->host_driver |= p->host_driver;
    of->present = true;
    of->going = p->deleting;
    of->ready = p->ready && !p->deleting;
    of->running = p->running;
    of->revision = intern_text(c->strings, p->revision);
    of->reason = p->ready ? NULL : intern_text(c->strings, p->reason);
    of->made_s = p->ready ? p->made_s : 0;
    of->problem = p->problem;
    of->key = p->head.key;
}

/* The first slice, by name, that offers the node's GPUs to resource claims; NULL: none. */
static const struct slice *first_slice(const struct cluster *c, const char *node)
{
    const struct slice *first = map_get(&c->slices, node);
    for (const struct slice *s = first; s; s = s->next_on_node)
        if (strcmp(s->head.key, first->head.key) < 0)
            first = s;
    return first;
}

void cluster_node_pods(const struct cluster *c, const struct node_slot *slot, struct node_pods *ret)
{
    const struct node_holders *holders = cluster_holders(c, slot);
    *ret = (struct node_pods){ 0 };
    for (const struct pod *p = slot->pods; p; p = p->next_on_node)
        cluster_add_pod(c, p, holders, ret);
    const struct slice *slice = ret->foreign ? NULL : first_slice(c, slot->name);
    if (!slice)
        return;
    ret->foreign = detect_slices();
    ret->foreign_slice = slice->head.key;
}

const struct gpu_node *cluster_report(const struct cluster *c, const struct node_slot *slot)
{
    const struct gpu_node *report = (const struct gpu_node *) table_get(
        &c->tables[RESOURCE_GPU_NODE], slot->name);
    bool of_another = report && slot->node && report->owner &&
                      report->owner != str_hash_id(RECORD_UID(&slot->node->head));
    return of_another ? NULL : report;
}

const struct node_inventory *cluster_inventory(const struct cluster *c,
                                               const struct node_slot *slot)
{
    const struct gpu_node *report = cluster_report(c, slot);
    return report ? report->inventory : NULL;
}

bool cluster_agent_is_up(const struct node_slot *slot)
{
    for (const struct pod *p = slot->pods; p; p = p->next_on_node)
        if (is_agent_that_is_up(p))
            return true;
    return false;
}

const struct node_holders *cluster_holders(const struct cluster *c, const struct node_slot *slot)
{
    const struct gpu_node *report = cluster_report(c, slot);
    if (!report || !report->holders || !slot->node || !report->inventory->boot ||
        report->inventory->boot != slot->node->boot)
        return NULL;
    return cluster_agent_is_up(slot) ? report->holders : NULL;
}

const struct child *cluster_record_of(const struct cluster *c, const char *tier, const char *hash)
{
    char name[RENDER_NAME_MAX];
    render_revision_name(tier, hash, name);
    CLEANUP_FREE char *key = xasprintf("%s/%s", c->o.operand_namespace, name);
    const struct child *record = (const struct child *) table_get(&c->tables[RESOURCE_REVISION],
                                                                  key);
    return record && !record->deleting ? record : NULL;
}

const json_t *cluster_record(void *arg, enum tier tier, const char *hash)
{
    const struct child *record = cluster_record_of(arg, tiers[tier].name, hash);
    return record ? record->inputs : NULL;
}
