/* The scheduler: binds pods to nodes, or reports why it cannot. Filters and their messages are in
 * the order of the real one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/fit.h"
#include "sim/actors/objects.h"
#include "sim/api/write.h"

#define USER "system:kube-scheduler"
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

enum {
    BACKOFF_MIN_MS = 1000,
    BACKOFF_MAX_MS = 10000,
    ENOUGH_NODES = 100, /* in a large cluster it chooses among so many that fit */
};

/* Why a node does not fit. Reasons for each resource follow. */
enum reason {
    REASON_NONE,
    REASON_UNSCHEDULABLE,
    REASON_TAINT,
    REASON_AFFINITY,
    REASON_OTHER_NODE,
    REASON_RESOURCE
};

static const char *const reasons[] = {
    [REASON_UNSCHEDULABLE] = "node(s) were unschedulable",
    [REASON_TAINT] = "node(s) had untolerated taint(s)",
    [REASON_AFFINITY] = "node(s) didn't match Pod's node affinity/selector",
    [REASON_OTHER_NODE] = "node(s) didn't satisfy plugin(s) [NodeAffinity]",
};

/* A pod for which no node was found. */
struct waiting {
    int64_t backoff_ms, tried_ms;
    char key[];
};

/* A node's allocatable, parsed once for each version of its list. */
struct room {
    json_t *allocatable;
    struct amounts amounts;
    char node[];
};

struct scheduler {
    struct actors *a;
    struct agenda pods;  /* to be bound */
    struct agenda nodes; /* that may now fit a waiting pod */
    struct waiting **waiting;
    size_t len, cap;
    struct map by_key;
    struct map rooms;
    size_t next; /* where the next search starts, so that nodes take turns */
};

/* One search: the number of nodes that failed for each reason. */
struct verdict {
    const json_t *pod;
    struct amounts requests;
    size_t total;
    size_t failed[REASON_RESOURCE + AMOUNT_MAX];
    size_t hopeless; /* nodes where the removal of other pods would not help */
};

static bool scheduler_is_ours(const json_t *pod)
{
    return !*json_str_or_empty(pod, "spec.nodeName") && !object_is_deleting(pod) &&
           !pod_is_finished(pod) &&
           str_eq(str_or_empty(json_str(pod, "spec.schedulerName")), "default-scheduler") &&
           json_array_size(json_at(pod, "spec.schedulingGates")) == 0;
}

/* ---- commits */

static bool node_has_news(const struct api_commit *c)
{
    return !c->before ||
           !json_equal(json_object_get(c->before, "spec"), json_object_get(c->after, "spec")) ||
           !json_equal(json_at(c->before, "metadata.labels"),
                       json_at(c->after, "metadata.labels")) ||
           !json_equal(json_at(c->before, "status.allocatable"),
                       json_at(c->after, "status.allocatable"));
}

static void scheduler_note_pod(struct scheduler *s, const struct api_commit *c)
{
    const char *node = json_str_or_empty(c->before, "spec.nodeName");
    bool was_there = c->before && *node && !pod_is_finished(c->before);
    if (was_there && (!c->after || pod_is_finished(c->after)))
        agenda_note(&s->nodes, node);
    if (c->after && !c->before && scheduler_is_ours(c->after))
        agenda_note_object(&s->pods, c->after);
}

static void scheduler_commit(void *self, const struct api_commit *c)
{
    struct scheduler *s = self;
    if (c->kind == s->a->kinds.pod)
        scheduler_note_pod(s, c);
    else if (c->kind == s->a->kinds.node && c->after && node_has_news(c))
        agenda_note(&s->nodes, object_name(c->after));
}

/* ---- filters */

static const struct amounts *room_of(struct scheduler *s, const json_t *node)
{
    json_t *allocatable = json_at(node, "status.allocatable");
    struct room *r = MAP_MAKE(struct room, node, &s->rooms, object_name(node));
    if (r->allocatable != allocatable) {
        json_decref(r->allocatable);
        r->allocatable = json_incref(allocatable);
        r->amounts = amounts_of_list(index_names(s->a->index), allocatable);
    }
    return &r->amounts;
}

/* Counts each short resource; true if there is none. */
static bool scheduler_has_room(struct scheduler *s, struct verdict *v, const json_t *node)
{
    const struct amounts *have = room_of(s, node),
                         *used = &index_pods_on(s->a->index, object_name(node))->used;
    bool fits = true, hopeless = false;
    for (int i = 0; i < AMOUNT_MAX; i++) {
        if (v->requests.of[i] == 0 || used->of[i] + v->requests.of[i] <= have->of[i])
            continue;
        fits = false;
        hopeless = hopeless || v->requests.of[i] > have->of[i];
        v->failed[REASON_RESOURCE + i]++;
    }
    v->hopeless += hopeless;
    return fits;
}

static enum reason refuse_node(const struct verdict *v, const json_t *node)
{
    const json_t *spec = json_object_get(v->pod, "spec"),
                 *tolerations = json_object_get(spec, "tolerations");
    if (json_bool(node, "spec.unschedulable", false)) {
        CLEANUP_JSON json_t *taints = json_pack("[{s:s, s:s}]", "key", UNSCHEDULABLE, "effect",
                                                "NoSchedule");
        if (fit_untolerated(tolerations, taints, TAINT_NO_SCHEDULE))
            return REASON_UNSCHEDULABLE;
    }
    if (fit_untolerated(tolerations, json_at(node, "spec.taints"),
                        TAINT_NO_SCHEDULE | TAINT_NO_EXECUTE))
        return REASON_TAINT;
    return fit_affinity(spec, node) ? REASON_NONE : REASON_AFFINITY;
}

/* Whether the pod fits; counts the reason if not. */
static bool scheduler_fits(struct scheduler *s, struct verdict *v, const json_t *node)
{
    enum reason reason = refuse_node(v, node);
    if (reason == REASON_NONE)
        return scheduler_has_room(s, v, node);
    v->failed[reason]++;
    v->hopeless++;
    return false;
}

/* The fitting node with the fewest pods, searched in turn; NULL: none. */
static const json_t *search(struct scheduler *s, struct verdict *v)
{
    const struct kind *k = s->a->kinds.node;
    const json_t *best = NULL;
    int64_t fewest = 0;
    size_t found = 0;
    for (size_t i = 0; i < v->total && found < ENOUGH_NODES; i++) {
        const json_t *node = api_at(s->a->api, k, (s->next + i) % v->total);
        if (!scheduler_fits(s, v, node))
            continue;
        int64_t pods = index_pods_on(s->a->index, object_name(node))->used.of[AMOUNT_PODS];
        found++;
        if (!best || pods < fewest) {
            best = node;
            fewest = pods;
        }
    }
    s->next++;
    return best;
}

/* Like search(), for a pod that fits only one node: checks no other node, but counts all. */
static const json_t *search_pinned(struct scheduler *s, struct verdict *v, const char *name)
{
    const json_t *node = api_get(s->a->api, s->a->kinds.node, "", name);
    if (node && scheduler_fits(s, v, node))
        return node;
    size_t others = v->total - (node != NULL);
    v->failed[REASON_OTHER_NODE] += others;
    v->hopeless += others;
    return NULL;
}

/* ---- results */

/* The message of the real scheduler. Owned by the caller. */
static char *sentence(const struct scheduler *s, const struct verdict *v)
{
    const struct amount_names *names = index_names(s->a->index);
    if (v->total == 0)
        return xstrdup("no nodes available to schedule pods");
    char *texts[REASON_RESOURCE + AMOUNT_MAX];
    size_t count = 0, helped = v->total - v->hopeless;
    for (int i = 0; i < REASON_RESOURCE + AMOUNT_MAX; i++) {
        if (v->failed[i] == 0)
            continue;
        const bool pods = i == REASON_RESOURCE + AMOUNT_PODS;
        texts[count++] = i < REASON_RESOURCE ? xasprintf("%zu %s", v->failed[i], reasons[i])
                         : pods              ? xasprintf("%zu Too many pods", v->failed[i])
                                             : xasprintf("%zu Insufficient %s", v->failed[i],
                                                         names->names[i - REASON_RESOURCE]);
    }
    qsort(texts, count, sizeof *texts, str_compare);
    struct buf out = BUF_INIT(1 << 14);
    buf_printf(&out, "0/%zu nodes are available: ", v->total);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&out, "%s%s", i ? ", " : "", texts[i]);
        free(texts[i]);
    }
    buf_printf(&out,
               ". no new claims to deallocate, preemption: 0/%zu nodes are available:", v->total);
    if (helped)
        buf_printf(&out, " %zu No preemption victims found for incoming pod%s", helped,
                   v->hopeless ? "," : ".");
    if (v->hopeless)
        buf_printf(&out, " %zu Preemption is not helpful for scheduling.", v->hopeless);
    return buf_take(&out);
}

static void scheduler_forget(struct scheduler *s, const char *key)
{
    struct waiting *w = map_remove(&s->by_key, key);
    if (!w)
        return;
    size_t i = 0;
    while (s->waiting[i] != w)
        i++;
    memmove(&s->waiting[i], &s->waiting[i + 1], (--s->len - i) * sizeof(struct waiting *));
    free(w);
}

static void scheduler_remember(struct scheduler *s, const char *key)
{
    struct waiting *w = map_get(&s->by_key, key);
    if (!w) {
        s->waiting = xgrow(s->waiting, s->len, &s->cap, sizeof *s->waiting);
        w = s->waiting[s->len++] = MAP_MAKE(struct waiting, key, &s->by_key, key);
    }
    w->tried_ms = s->a->sim->now_ms;
    w->backoff_ms = agenda_backoff(w->backoff_ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
}

static json_t *scheduled_condition(const struct scheduler *s, const json_t *pod, const char *status,
                                   const char *reason, const char *message)
{
    char now[CLOCK_TEXT_MAX];
    actors_now(s->a, now);
    return conditions_with(json_at(pod, "status.conditions"), "PodScheduled", status, reason,
                           message, now);
}

static void bind(struct scheduler *s, const json_t *pod, const char *node)
{
    const struct write w = { .user = USER,
                             .manager = USER,
                             .verb = API_PATCH,
                             .kind = s->a->kinds.pod,
                             .ns = object_namespace(pod),
                             .name = object_name(pod),
                             .subresource = "binding" };
    CLEANUP_JSON json_t *patch = json_pack(
        "{s:{s:s}, s:{s:s}, s:{s:o}}", "metadata", "uid", object_uid(pod), "spec", "nodeName", node,
        "status", "conditions", scheduled_condition(s, pod, "True", NULL, NULL));
    write_patch(s->a->api, &w, PATCH_MERGE, patch, NULL, NULL);
}

static void scheduler_look_at_pod(void *self, const char *key)
{
    struct scheduler *s = self;
    CLEANUP_JSON json_t *pod = json_incref(object_of_key(s->a, s->a->kinds.pod, key));
    if (!pod || !scheduler_is_ours(pod)) {
        scheduler_forget(s, key);
        return;
    }
    struct verdict v = { .pod = pod,
                         .requests = amounts_of_pod(index_names(s->a->index), pod),
                         .total = api_count(s->a->api, s->a->kinds.node) };
    const char *pinned = fit_pinned_node(json_object_get(pod, "spec"));
    const json_t *node = pinned ? search_pinned(s, &v, pinned) : search(s, &v);
    if (node) {
        CLEANUP_FREE char *name = xstrdup(object_name(node));
        scheduler_forget(s, key);
        bind(s, pod, name);
        return;
    }
    scheduler_remember(s, key);
    CLEANUP_FREE char *why = sentence(s, &v);
    if (str_eq(json_str(condition_of(pod, "PodScheduled"), "message"), why))
        return;
    object_set_status(s->a, USER, s->a->kinds.pod, pod,
                      json_pack("{s:o}", "conditions",
                                scheduled_condition(s, pod, "False", "Unschedulable", why)));
}

/* Retries waiting pods that this node may fit, after their backoff. */
static void scheduler_look_at_node(void *self, const char *name)
{
    struct scheduler *s = self;
    const json_t *node = api_get(s->a->api, s->a->kinds.node, "", name);
    for (size_t i = 0; node && i < s->len; i++) {
        const struct waiting *w = s->waiting[i];
        const json_t *pod = object_of_key(s->a, s->a->kinds.pod, w->key);
        const char *pinned = pod ? fit_pinned_node(json_object_get(pod, "spec")) : NULL;
        if (!pod || (pinned && !str_eq(pinned, name)))
            continue;
        struct verdict v = { .pod = pod,
                             .requests = amounts_of_pod(index_names(s->a->index), pod) };
        if (!scheduler_fits(s, &v, node))
            continue;
        int64_t earliest = w->tried_ms + w->backoff_ms;
        agenda_at(&s->pods, w->key,
                  earliest > s->a->sim->now_ms
                      ? earliest
                      : s->a->sim->now_ms + agenda_draw(&s->pods, s->pods.delay));
    }
}

static void room_free(void *room)
{
    struct room *r = room;
    json_decref(r->allocatable);
    free(r);
}

static void scheduler_end(void *self)
{
    struct scheduler *s = self;
    map_clear_with(&s->by_key, free);
    free(s->waiting);
    map_clear_with(&s->rooms, room_free);
}

const struct actor scheduler_actor = {
    .size = sizeof(struct scheduler),
    .agendas = { AGENDA(struct scheduler, pods, "scheduler", scheduler, scheduler_look_at_pod),
                 AGENDA(struct scheduler, nodes, "scheduler nodes", scheduler,
                        scheduler_look_at_node) },
    .commit = scheduler_commit,
    .end = scheduler_end,
};
