/* Liveness of rollouts, judged as time passes: a node that is closed and not changed does not stay
 * idle, a rollout that can go on does, and no node is passed over for ever. All is read from
 * policies, nodes, their claims and pods as they are on the server, and from the machines. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

#define APPROVED "ostler.dev/approved"
#define HOLD "ostler.dev/hold"
#define GAVE_UP "ostler.dev/gave-up"

enum {
    LOOK_MS = 20 * 1000, /* between two looks */
    /* docs/upgrades.md: closed and not changed, while its turn does not come */
    IDLE_MS = 5 * 60 * 1000,
    /* images are pulled in it, and a node that pulls is waited for a minute */
    PROCEEDS_MS = 5 * 60 * 1000,
    /* to hear of it, to look once a minute at what comes and goes, and to write */
    SLACK_MS = 60 * 1000,
    /* a watch that brings nothing is given up after that, and a request tried again */
    HEALS_MS = 200 * 1000,
    /* so often another node must not begin while one that could begin waits */
    TURNS = 3,
};

/* What is remembered of a node. */
struct live_node {
    char *name;
    uint64_t claim;       /* hash of its text; 0: none */
    int64_t idle_ms;      /* closed, not changed and idle since; -1: it is not */
    int64_t pending_ms;   /* could begin since; -1: it could not */
    int64_t begun[TURNS]; /* when it last began, the newest first; -1: never */
};

struct live_pool {
    char *name;
    int64_t changed_ms; /* when a claim of its nodes last changed */
    int64_t open_ms;    /* a node could begin since; -1: none could */
};

/* One look. */
struct look {
    struct invariants *v;
    const json_t *policy;
    int64_t since_ms;       /* since the last one */
    bool open;              /* not paused, approved, in a window */
    struct map busy;        /* a pod that has to leave, by its node; all borrowed */
    size_t all, out, begun; /* nodes that are served; out of service; being changed */
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t now_of(const struct invariants *v)
{
    return v->run->sim.now_ms;
}

static struct live_node *node_of(struct invariants *v, const char *name)
{
    struct live_node *n = map_get(&v->live.nodes, name);
    if (n)
        return n;
    n = xcalloc(1, sizeof *n);
    *n = (struct live_node){ .name = xstrdup(name), .idle_ms = -1, .pending_ms = -1 };
    for (size_t i = 0; i < TURNS; i++)
        n->begun[i] = -1;
    map_put(&v->live.nodes, n->name, n);
    return n;
}

static struct live_pool *pool_of(struct invariants *v, const char *name)
{
    struct live_pool *p = map_get(&v->live.pools, name);
    if (p)
        return p;
    p = xcalloc(1, sizeof *p);
    *p = (struct live_pool){ .name = xstrdup(name), .changed_ms = now_of(v), .open_ms = -1 };
    map_put(&v->live.pools, p->name, p);
    return p;
}

void check_live_clear(struct invariants *v)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->live.nodes, &cursor))) {
        struct live_node *n = e->value;
        free(n->name);
        free(n);
    }
    for (cursor = 0; (e = map_next(&v->live.pools, &cursor));) {
        struct live_pool *p = e->value;
        free(p->name);
        free(p);
    }
    map_clear(&v->live.nodes);
    map_clear(&v->live.pools);
}

/* ---- whether Ostler can do anything */

static bool faults_strike(const struct invariants *v)
{
    const struct fault_plan *plan = &v->run->faults;
    for (size_t i = 0; i < plan->count; i++) {
        const struct fault *f = &plan->rows[i];
        if (f->until_ms > now_of(v) || (f->fired && now_of(v) - f->fired_ms < HEALS_MS))
            return true;
    }
    return wire_counts(v->run->wire)->lost_until_ms > now_of(v) || wire_is_troubled(v->run->wire);
}

static uint64_t starts_of(const struct run *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->replicas; i++)
        n += process_counts(r->ostlers[i])->starts + process_counts(r->ostlers[i])->losses;
    return n;
}

/* What is waited for is counted anew when Ostler starts, when it is healthy again, and when the
 * policy says something else. */
static void look_at_ostler(struct invariants *v, const json_t *policy)
{
    struct live *l = &v->live;
    uint64_t starts = starts_of(v->run);
    int64_t generation = object_generation(policy);
    bool well = run_leader(v->run) && !faults_strike(v) && starts == l->starts;
    if (!well || generation != l->generation)
        l->well_ms = now_of(v);
    l->starts = starts;
    l->generation = generation;
}

/* ---- what is read of nodes */

static bool is_up(const json_t *node)
{
    return str_eq(check_condition(node, "Ready"), "True");
}

static bool is_cordoned(const json_t *node)
{
    return json_bool(node, "spec.unschedulable", false);
}

/* Whether people let Ostler work there. */
static bool is_free(const json_t *node)
{
    const char *hold = object_label(node, HOLD);
    return is_up(node) && !is_cordoned(node) && !object_is_deleting(node) &&
           (!hold || str_eq(hold, "false")) && !object_annotation(node, GAVE_UP);
}

static bool asks_for_gpu(const json_t *containers)
{
    size_t i;
    json_t *container;
    json_array_foreach (containers, i, container) {
        const char *resource;
        json_t *count;
        json_object_foreach (json_at(container, "resources.limits"), resource, count)
            if (check_is_gpu(resource))
                return true;
    }
    return false;
}

static bool uses_gpu(const json_t *pod)
{
    return asks_for_gpu(json_at(pod, "spec.containers")) ||
           asks_for_gpu(json_at(pod, "spec.initContainers")) ||
           json_array_size(json_at(pod, "spec.resourceClaims")) > 0;
}

static bool has_ended(const json_t *pod)
{
    const char *phase = json_str_or_empty(pod, "status.phase");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

/* Whether a pod of others has to leave before its node is changed. */
static bool has_to_leave(const json_t *policy, const json_t *pod)
{
    bool all = str_eq(json_str(policy, "spec.rollout.drain.mode"), "AllPods");
    bool daemon = str_eq(json_str(object_controller(pod), "kind"), "DaemonSet");
    return !str_eq(object_namespace(pod), OPERAND_NAMESPACE) && !has_ended(pod) &&
           (uses_gpu(pod) || (all && !daemon));
}

/* Which nodes have a pod on them that has to leave. */
static void find_busy(struct look *l)
{
    const struct kind *pods = kind_named("pods");
    for (size_t i = 0; i < api_count(l->v->run->api, pods); i++) {
        const json_t *pod = api_at(l->v->run->api, pods, i);
        const char *node = json_str(pod, "spec.nodeName");
        if (node && !map_get(&l->busy, node) && has_to_leave(l->policy, pod))
            map_put(&l->busy, node, (void *) pod);
    }
}

/* Whether its GPUs are unused: no pod on it has to leave, and its agent sees no process with one
 * open. */
static bool is_idle(const struct look *l, const json_t *node)
{
    const json_t *report = api_get(l->v->run->api, kind_named("gpunodes"), "", object_name(node));
    return !map_get(&l->busy, object_name(node)) &&
           json_array_size(json_at(report, "status.inventory.holders")) == 0;
}

/* ---- L2: closed for nothing */

/* Whether it is as it was when it was taken out of service: what comes then takes time, and has
 * deadlines of its own. */
static bool is_unchanged(const json_t *node, const struct reading_claim *c)
{
    bool before = str_eq(c->phase, "Waiting") || str_eq(c->phase, "Draining");
    return before && *c->from_stack &&
           str_eq(str_or_empty(object_label(node, LABEL_DRIVER)), c->from_driver) &&
           str_eq(str_or_empty(object_label(node, LABEL_STACK)), c->from_stack);
}

static void look_for_idle(const struct look *l, const json_t *node, struct live_node *n, bool same)
{
    struct reading_claim claim;
    struct invariants *v = l->v;
    bool idle = reading_is_closed(node) && is_up(node) && !object_is_deleting(node) &&
                reading_claim(node, &claim) && is_unchanged(node, &claim) && is_idle(l, node);
    if (!idle || !same || n->idle_ms < 0)
        n->idle_ms = idle ? now_of(v) : -1;
    if (!idle)
        return;
    check_tried(v, INVARIANT_L2_IDLE);
    int64_t ms = now_of(v) - later(n->idle_ms, v->live.well_ms);
    if (ms > IDLE_MS + SLACK_MS)
        check_failed(v, INVARIANT_L2_IDLE, "%s is %s and idle since %lld s", n->name, claim.phase,
                     (long long) ((now_of(v) - ms) / 1000));
}

/* ---- L3: a rollout that can go on */

/* The version that a node of a pool is to have; NULL: the policy does not say it. Borrowed. */
static const char *version_of(const json_t *policy, const char *pool)
{
    const json_t *row = json_find(json_at(policy, "spec.pools"), "name", pool);
    const char *version = row ? json_str(row, "driver.version") : NULL;
    return version ? version : json_str(policy, "spec.driver.version");
}

/* Whether a revision with that version has failed there, by its record. */
static bool is_stopped(const struct invariants *v, const char *pool, const char *version)
{
    const struct kind *records = kind_named("controllerrevisions");
    CLEANUP_FREE char *failed = xasprintf(ANNOTATION_FAILED "%s", pool);
    for (size_t i = 0; i < api_count(v->run->api, records); i++) {
        const json_t *record = api_at(v->run->api, records, i);
        if (!object_annotation(record, failed))
            continue;
        CLEANUP_FREE char *data = json_compact(json_at(record, "data"));
        if (strstr(data, version))
            return true;
    }
    return false;
}

/* NVIDIA publishes no image of this driver for that system: the node keeps what it has, without a
 * pod that pulls. */
static bool has_no_image(const json_t *node, const char *version)
{
    const char *system = json_str_or_empty(json_at(node, "status.nodeInfo"), "osImage");
    return str_eq(version, "580.178.04") && str_has_prefix(system, "Ubuntu 26.04");
}

/* Whether nothing but Ostler keeps a node from being changed now. */
static bool is_pending(const struct look *l, const json_t *node, const char *version)
{
    struct actors_machine m;
    return version && is_free(node) && !reading_is_closed(node) && !check_is_unhealthy(node) &&
           !object_annotation(node, ANNOTATION_CLAIM) &&
           *str_or_empty(object_label(node, LABEL_DRIVER)) &&
           actors_machine(l->v->run->actors, object_name(node), &m) && m.module && m.digest &&
           !str_has_prefix(m.module, version) && !has_no_image(node, version) && is_idle(l, node);
}

/* A kubelet that pulls for it, or cannot, is waited for. */
static bool is_pulling(const struct invariants *v, const char *node)
{
    CLEANUP_FREE char *name = xasprintf("ostler-pull-%s", node);
    const json_t *pod = api_get(v->run->api, kind_named("pods"), OPERAND_NAMESPACE, name);
    size_t i;
    json_t *container;
    json_array_foreach (json_at(pod, "spec.containers"), i, container)
        if (!actors_has_image(v->run->actors, node, json_str_or_empty(container, "image")))
            return true;
    return false;
}

/* A node that waits or is closed without a place is out of service as well. */
static void count(struct look *l)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; i < api_count(l->v->run->api, nodes); i++) {
        const json_t *node = api_at(l->v->run->api, nodes, i);
        struct reading_claim claim;
        bool claimed = reading_claim(node, &claim);
        l->all += *str_or_empty(object_label(node, LABEL_STACK)) != '\0';
        l->out += (claimed && !str_eq(claim.phase, "Failed")) || !is_up(node) ||
                  is_cordoned(node) || object_is_deleting(node) || check_is_unhealthy(node);
        l->begun += claimed && reading_has_place(&claim);
    }
}

/* Whether the policy has a place for one more node, of any size. */
static bool has_room(const struct look *l)
{
    bool alone = l->out == 0;
    return l->begun < reading_limit(l->policy, "maxParallel", l->all) &&
           l->out < reading_limit(l->policy, "maxUnavailable", l->all) &&
           (alone || (!reading_topology_key(l->policy) &&
                      reading_limit(l->policy, "maxUnavailableGpus", 1) == SIZE_MAX));
}

static bool is_open(const struct invariants *v, const json_t *policy)
{
    const char *shown = json_str(policy, "status.rollout.plan.hash");
    int64_t now_s = (v->run->sim.epoch_us / 1000 + now_of(v)) / 1000;
    bool approved = shown && str_eq(object_annotation(policy, APPROVED), shown);
    return !reading_is_paused(policy) && (approved || !reading_asks_approval(policy)) &&
           reading_window_open(policy, now_s);
}

/* Canary and waves soak, and images come, before the next node goes. */
static int64_t pool_limit_ms(const json_t *policy)
{
    const char *text = json_str(policy, "spec.rollout.soak");
    int64_t wave_ms = text ? reading_duration_ms(text) : 0,
            canary_ms = reading_canary_soak_s(policy) * 1000;
    return later(wave_ms, reading_canary_nodes(policy) > 0 ? canary_ms : 0) + PROCEEDS_MS +
           SLACK_MS;
}

/* Whether a node of the pool could begin at this moment; takes note of each that could. */
static bool look_at_pool(const struct look *l, const struct live_pool *p)
{
    const struct kind *nodes = kind_named("nodes");
    const char *version = version_of(l->policy, p->name);
    bool stopped = !version || is_stopped(l->v, p->name, version), pending = false, pulls = false;
    for (size_t i = 0; i < api_count(l->v->run->api, nodes); i++) {
        const json_t *node = api_at(l->v->run->api, nodes, i);
        struct live_node *n = node_of(l->v, object_name(node));
        struct reading_claim claim;
        if (!str_eq(reading_pool(l->policy, node), p->name))
            continue;
        stopped |= reading_claim(node, &claim) && str_eq(claim.phase, "Failed");
        bool could = !stopped && l->open && is_pending(l, node, version);
        bool pulling = could && is_pulling(l->v, n->name);
        pulls |= pulling;
        pending |= could;
        if (!could || pulling || n->pending_ms < 0)
            n->pending_ms = could && !pulling ? now_of(l->v) : -1;
    }
    return pending && !stopped && !pulls && has_room(l);
}

/* While a node that was changed is down, or its GPUs have gone, it proves nothing: a soak stands
 * still. */
static bool is_unwell(const struct look *l, const char *pool)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; i < api_count(l->v->run->api, nodes); i++) {
        const json_t *node = api_at(l->v->run->api, nodes, i);
        bool ours = *str_or_empty(object_label(node, LABEL_STACK)) &&
                    str_eq(reading_pool(l->policy, node), pool);
        if (ours && (!is_up(node) || str_eq(check_condition(node, NODE_CONDITION), "False")))
            return true;
    }
    return false;
}

static void look_for_standstill(const struct look *l, struct live_pool *p)
{
    struct invariants *v = l->v;
    bool could = look_at_pool(l, p);
    if (is_unwell(l, p->name))
        p->changed_ms += l->since_ms;
    if (!could || p->open_ms < 0)
        p->open_ms = could ? now_of(v) : -1;
    if (!could)
        return;
    check_tried(v, INVARIANT_L3_PROCEEDS);
    int64_t ms = now_of(v) - later(later(p->open_ms, p->changed_ms), v->live.well_ms);
    if (ms > pool_limit_ms(l->policy))
        check_failed(v, INVARIANT_L3_PROCEEDS,
                     "a node of pool %s could begin since %lld s, and none does", p->name,
                     (long long) ((now_of(v) - ms) / 1000));
}

/* ---- L3: no node is passed over */

/* Whether a node that could begin has waited since before this one began for the first of its last
 * turns. */
static void look_for_passed_over(struct invariants *v, const struct live_node *n)
{
    size_t cursor = 0;
    const struct map_entry *e;
    int64_t first_ms = n->begun[TURNS - 1];
    while ((e = map_next(&v->live.nodes, &cursor))) {
        const struct live_node *other = e->value;
        if (other == n || other->pending_ms < 0)
            continue;
        check_tried(v, INVARIANT_L3_FAIR);
        int64_t since_ms = later(other->pending_ms, v->live.well_ms);
        if (since_ms < first_ms)
            check_failed(v, INVARIANT_L3_FAIR,
                         "%s begins, %d times since %s could begin, at %lld s", n->name, TURNS,
                         other->name, (long long) (since_ms / 1000));
    }
}

void check_fair(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    if (!check_is_taking(v, c, &t) || !t.begins || !str_eq(t.claim.kind, "Upgrade"))
        return;
    struct live_node *n = node_of(v, object_name(c->after));
    for (size_t i = TURNS - 1; i > 0; i--)
        n->begun[i] = n->begun[i - 1];
    n->begun[0] = now_of(v);
    look_for_passed_over(v, n);
}

/* ---- looks */

static void look_at_nodes(const struct look *l)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; i < api_count(l->v->run->api, nodes); i++) {
        const json_t *node = api_at(l->v->run->api, nodes, i);
        struct live_node *n = node_of(l->v, object_name(node));
        const char *text = object_annotation(node, ANNOTATION_CLAIM);
        uint64_t claim = text ? str_hash(text, strlen(text)) : 0;
        struct live_pool *p = pool_of(l->v, reading_pool(l->policy, node));
        bool same = claim == n->claim;
        if (!same)
            p->changed_ms = now_of(l->v);
        n->claim = claim;
        look_for_idle(l, node, n, same);
    }
}

void check_live(struct invariants *v)
{
    const json_t *policy = check_policy(v);
    int64_t since_ms = now_of(v) - v->live.looked_ms;
    if (since_ms < LOOK_MS || v->run->plan->deny_verb)
        return;
    v->live.looked_ms = now_of(v);
    look_at_ostler(v, policy);
    if (!policy || object_is_deleting(policy))
        return;
    struct look l = { .v = v, .policy = policy, .since_ms = since_ms, .open = is_open(v, policy) };
    count(&l);
    find_busy(&l);
    look_at_nodes(&l);
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->live.pools, &cursor)))
        look_for_standstill(&l, e->value);
    map_clear(&l.busy);
}
