/* Checks of each write that takes a node out of service, or lets one that waits begin: whether the
 * policy allows it at that time. All is counted by the oracle itself, from policies, nodes and
 * their claims as they are on the server. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

#define APPROVED "ostler.dev/approved"
#define GPU_PRESENT "nvidia.com/gpu.present"

enum {
    WITHDRAWN_MS = 200 * 1000, /* a client may work for so long on a watch that brings nothing */
    /* what was sent before something was written may be committed after it */
    ON_ITS_WAY_MS = 10 * 1000,
};

/* A node is taken out of service, or begins, for what the policy says now. False: it is not, or it
 * goes back to what worked, which waits for nothing that is asked here. */
static bool is_upgrade(const struct invariants *v, const struct api_commit *c, struct taking *ret,
                       const json_t **ret_policy)
{
    *ret_policy = check_is_taking(v, c, ret) ? check_policy_of(v, &ret->claim) : NULL;
    return *ret_policy && str_eq(ret->claim.kind, "Upgrade");
}

/* ---- paused, approval, windows */

void check_paused(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    const json_t *policy;
    if (!is_upgrade(v, c, &t, &policy))
        return;
    check_tried(v, INVARIANT_G1_PAUSED);
    if (reading_is_paused(policy))
        check_failed(v, INVARIANT_G1_PAUSED, "%s", object_name(c->after));
}

/* An approval must be of a plan that Ostler has shown. One that was taken back lately may still be
 * what a client knows. */
static void note_approval(struct invariants *v, const struct api_commit *c)
{
    const char *was = object_annotation(c->before, APPROVED),
               *is = object_annotation(c->after, APPROVED);
    if (!str_eq(was, is) && was)
        check_note(v, &v->approvals, was);
    const char *shown = json_str(c->after, "status.rollout.plan.hash");
    if (shown)
        check_note(v, &v->plans, shown);
}

static bool was_withdrawn(const struct invariants *v, const char *plan)
{
    int64_t at_ms = check_noted(&v->approvals, plan);
    return at_ms >= 0 && v->run->sim.now_ms - at_ms < WITHDRAWN_MS;
}

static bool is_any_withdrawn(const struct invariants *v)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->plans, &cursor)))
        if (was_withdrawn(v, e->key))
            return true;
    return false;
}

void check_approved(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    const json_t *policy;
    if (!is_upgrade(v, c, &t, &policy) || !reading_asks_approval(policy) || is_any_withdrawn(v))
        return;
    const char *approved = object_annotation(policy, APPROVED);
    check_tried(v, INVARIANT_G2_APPROVED);
    if (!approved || check_noted(&v->plans, approved) < 0)
        check_failed(v, INVARIANT_G2_APPROVED, "%s, approved is %s", object_name(c->after),
                     str_or_empty(approved));
}

/* Seconds of the epoch, by the world's clock. */
static int64_t now_s(const struct invariants *v, int64_t ago_ms)
{
    return (v->run->sim.epoch_us / 1000 + v->run->sim.now_ms - ago_ms) / 1000;
}

void check_window(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    const json_t *policy;
    if (!is_upgrade(v, c, &t, &policy) ||
        json_array_size(json_at(policy, "spec.rollout.windows")) == 0)
        return;
    check_tried(v, INVARIANT_G3_WINDOW);
    if (!reading_window_open(policy, now_s(v, 0)) &&
        !reading_window_open(policy, now_s(v, ON_ITS_WAY_MS)))
        check_failed(v, INVARIANT_G3_WINDOW, "%s", object_name(c->after));
}

/* ---- domains */

static bool is_up(const json_t *node)
{
    return str_eq(check_condition(node, "Ready"), "True");
}

void check_domain(struct invariants *v, const struct api_commit *c)
{
    const struct kind *nodes = kind_named("nodes");
    struct taking t;
    struct reading_claim other;
    const json_t *policy = check_is_taking(v, c, &t) ? check_policy_of(v, &t.claim) : NULL;
    const char *key = policy ? reading_topology_key(policy) : NULL;
    if (!key)
        return;
    const char *domain = str_or_empty(object_label(c->after, key));
    check_tried(v, INVARIANT_G4_DOMAIN);
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        bool changes = reading_is_closed(node) && reading_claim(node, &other) &&
                       check_keeps_place(node, &other) && !check_is_recent(v, object_name(node));
        if (changes && !str_eq(str_or_empty(object_label(node, key)), domain))
            check_failed(v, INVARIANT_G4_DOMAIN, "%s, while %s of another domain is being changed",
                         object_name(c->after), object_name(node));
    }
}

/* ---- canary, failures: what happened to a revision in a pool */

/* Which of the two revisions of a claim decides: that of the driver where it changes. */
static const char *revision_of(const struct reading_claim *c)
{
    return str_eq(c->driver, c->from_driver) ? c->stack : c->driver;
}

static char *key_of(const char *pool, const char *hash)
{
    return xasprintf("%s/%s", pool, hash);
}

static bool has_revision(const json_t *node, const char *hash)
{
    return str_eq(object_label(node, LABEL_DRIVER), hash) ||
           str_eq(object_label(node, LABEL_STACK), hash);
}

/* The last write of a node that was sent. */
struct sending {
    char *node;
    uint64_t client;
    int64_t at_ms;
};

static char *answer_key(uint64_t client, const char *node)
{
    return xasprintf("%llu/%s", (unsigned long long) client, node);
}

/* The node that a request changes; NULL: it changes none. */
static const char *changed_node(const struct request *r)
{
    static const char prefix[] = "/api/v1/nodes/";
    bool changes = r->class == REQUEST_WRITE && str_has_prefix(r->path, prefix);
    return changes && !strchr(r->path + sizeof prefix - 1, '/') ? r->path + sizeof prefix - 1
                                                                : NULL;
}

void check_begin_sent(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    const char *name = changed_node(r);
    CLEANUP_FREE char *node = name ? xstrndup(name, strcspn(name, "?")) : NULL;
    struct sending *s = node ? map_get(&v->sends, node) : NULL;
    if (!node)
        return;
    if (!s) {
        s = xcalloc(1, sizeof *s);
        s->node = xstrdup(node);
        map_put(&v->sends, s->node, s);
    }
    s->client = wire_client_number(c);
    s->at_ms = v->run->sim.now_ms;
}

void check_begin_taken(struct invariants *v, const struct wire_client *c,
                       const struct wire_taken *t)
{
    const char *name = t->part == WIRE_END && t->status == 200 && !t->broken
                           ? changed_node(t->request)
                           : NULL;
    if (!name)
        return;
    CLEANUP_FREE char *node = xstrndup(name, strcspn(name, "?"));
    CLEANUP_FREE char *key = answer_key(wire_client_number(c), node);
    check_note(v, &v->answers, key);
}

/* How the nodes of a pool stand to a revision. A node that is down proves nothing: another one
 * takes its turn. */
struct standing {
    size_t nodes;     /* with GPUs */
    size_t have;      /* run it, are up and in service, and work */
    size_t under_way; /* are being changed to it, and are up */
};

/* The client that wrote that a node has failed knows it when it has taken the answer. Who hears of
 * it by a watch may have sent something before. */
static bool is_known(const struct invariants *v, const char *failed, const char *begins)
{
    int64_t failed_ms = check_noted(&v->failures, failed);
    const struct sending *s = map_get(&v->sends, begins);
    CLEANUP_FREE char *key = s ? answer_key(s->client, failed) : NULL;
    int64_t answered_ms = key ? check_noted(&v->answers, key) : -1;
    if (failed_ms < 0)
        return false;
    return v->run->sim.now_ms - failed_ms >= ON_ITS_WAY_MS ||
           (answered_ms >= failed_ms && s->at_ms > answered_ms);
}

/* `begins`: the node that is taken, which who takes it must not do when it knows of the failure. */
static bool failed_with(const struct invariants *v, const json_t *node,
                        const struct reading_claim *c, const char *hash, const char *begins)
{
    return str_eq(c->phase, "Failed") && str_eq(c->kind, "Upgrade") &&
           !str_eq(c->reason, "DrainTimeout") && c->gpus > 0 && str_eq(revision_of(c), hash) &&
           is_known(v, object_name(node), begins);
}

/* A node that an admin took out of Ostler's hands is of no rollout, whatever still runs there: it
 * is no canary either. */
static bool is_of_pool(const json_t *policy, const json_t *node, const char *pool)
{
    return object_label(node, GPU_PRESENT) && !str_eq(object_label(node, LABEL_MANAGED), "false") &&
           str_eq(reading_pool(policy, node), pool);
}

/* A node whose GPUs have gone proves nothing: another one takes its turn. */
static bool works(const json_t *node)
{
    return !str_eq(check_condition(node, "GpuReady"), "False");
}

static struct standing standing_of(const struct invariants *v, const json_t *policy,
                                   const char *pool, const char *hash)
{
    const struct kind *nodes = kind_named("nodes");
    struct standing s = { 0 };
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        struct reading_claim claim;
        if (!is_of_pool(policy, node, pool))
            continue;
        bool claimed = reading_claim(node, &claim),
             counts = is_up(node) && !check_is_recent(v, object_name(node));
        s.nodes++;
        s.have += counts && !claimed && works(node) && has_revision(node, hash);
        s.under_way += counts && claimed && reading_has_place(&claim) &&
                       str_eq(revision_of(&claim), hash);
    }
    return s;
}

/* A person asked that it is tried again, at some time. */
static bool is_retried(const struct invariants *v, const char *hash)
{
    const struct kind *records = kind_named("controllerrevisions");
    for (size_t i = 0; i < api_count(v->run->api, records); i++) {
        const json_t *record = api_at(v->run->api, records, i);
        const char *key;
        json_t *value;
        if (strstr(object_name(record), hash))
            json_object_foreach (json_at(record, "metadata.annotations"), key, value)
                if (str_has_prefix(key, "ostler.dev/retried-"))
                    return true;
    }
    return false;
}

/* How many nodes of the pool failed with a revision, as whoever takes this one knows. */
static size_t failures(const struct invariants *v, const json_t *policy, const char *pool,
                       const char *hash, const char *begins)
{
    const struct kind *nodes = kind_named("nodes");
    struct reading_claim claim;
    size_t n = 0;
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        n += is_of_pool(policy, node, pool) && reading_claim(node, &claim) &&
             failed_with(v, node, &claim, hash, begins);
    }
    return n;
}

void check_threshold(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    const json_t *policy;
    if (!is_upgrade(v, c, &t, &policy) || is_retried(v, revision_of(&t.claim)))
        return;
    const char *pool = reading_pool(policy, c->after), *hash = revision_of(&t.claim);
    struct standing s = standing_of(v, policy, pool, hash);
    size_t most = reading_limit(policy, "failureThreshold", s.nodes);
    size_t failed = failures(v, policy, pool, hash, object_name(c->after));
    check_tried(v, INVARIANT_G6_THRESHOLD);
    if (failed >= (most < s.nodes ? most : s.nodes) && failed > 0)
        check_failed(v, INVARIANT_G6_THRESHOLD,
                     "%s begins, %zu of %zu nodes of its pool have failed with %s",
                     object_name(c->after), failed, s.nodes, hash);
}

/* When the nodes came through that had a revision first in a pool. */
struct passing {
    char *key;
    int64_t *at_ms;
    size_t count;
    /* most nodes of the pool had it at some time, or one that was not upgraded to it */
    bool common;
};

static struct passing *passing_of(struct invariants *v, const char *pool, const char *hash)
{
    CLEANUP_FREE char *key = key_of(pool, hash);
    struct passing *p = map_get(&v->passings, key);
    if (p)
        return p;
    p = xcalloc(1, sizeof *p);
    p->key = TAKE(key);
    map_put(&v->passings, p->key, p);
    return p;
}

void check_begin_clear(struct invariants *v)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->passings, &cursor))) {
        struct passing *p = e->value;
        free(p->key);
        free(p->at_ms);
        free(p);
    }
    map_clear(&v->passings);
    for (cursor = 0; (e = map_next(&v->sends, &cursor));) {
        struct sending *s = e->value;
        free(s->node);
        free(s);
    }
    map_clear(&v->sends);
}

/* Whether so many have worked for as long as the policy says. */
static bool has_soaked(const struct invariants *v, const struct passing *p, const json_t *policy)
{
    int64_t soak_ms = reading_canary_soak_s(policy) * 1000;
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        n += v->run->sim.now_ms - p->at_ms[i] + 1000 >= soak_ms;
    return n >= (size_t) reading_canary_nodes(policy);
}

void check_canary(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    const json_t *policy;
    if (!is_upgrade(v, c, &t, &policy) || !t.begins || reading_canary_nodes(policy) == 0)
        return;
    const char *pool = reading_pool(policy, c->after), *hash = revision_of(&t.claim);
    const struct passing *p = passing_of(v, pool, hash);
    struct standing s = standing_of(v, policy, pool, hash);
    if (p->common)
        return;
    check_tried(v, INVARIANT_G5_CANARY);
    if (s.have + s.under_way > (size_t) reading_canary_nodes(policy) && !has_soaked(v, p, policy))
        check_failed(v, INVARIANT_G5_CANARY,
                     "%s: %zu nodes of pool %s have %s or are changed to it, and %zu came through",
                     object_name(c->after), s.have + s.under_way, pool, hash, p->count);
}

/* ---- what is remembered */

static void note_revision(struct invariants *v, const json_t *policy, const json_t *node,
                          const char *hash, bool upgraded)
{
    if (!hash || !*hash)
        return;
    const char *pool = reading_pool(policy, node);
    struct passing *p = passing_of(v, pool, hash);
    struct standing s = standing_of(v, policy, pool, hash);
    p->common |= !upgraded || s.have * 2 > s.nodes;
    if (!upgraded)
        return;
    p->at_ms = xreallocarray(p->at_ms, p->count + 1, sizeof *p->at_ms);
    p->at_ms[p->count++] = v->run->sim.now_ms;
}

static void note_node(struct invariants *v, const struct api_commit *c)
{
    struct reading_claim before, after;
    const json_t *policy = check_policy(v);
    bool had = reading_claim(c->before, &before), has = reading_claim(c->after, &after);
    if (has && str_eq(after.phase, "Failed") && !(had && str_eq(before.phase, "Failed")))
        check_note(v, &v->failures, object_name(c->after));
    if (!policy || has)
        return;
    /* It came through, or got what it runs without an upgrade. */
    bool upgraded = had && str_eq(before.kind, "Upgrade");
    if (had && has_revision(c->after, before.driver))
        note_revision(v, policy, c->after, before.driver, upgraded);
    if (had && has_revision(c->after, before.stack))
        note_revision(v, policy, c->after, before.stack, upgraded);
    if (!had &&
        !str_eq(object_label(c->before, LABEL_DRIVER), object_label(c->after, LABEL_DRIVER)))
        note_revision(v, policy, c->after, object_label(c->after, LABEL_DRIVER), false);
    if (!had && !str_eq(object_label(c->before, LABEL_STACK), object_label(c->after, LABEL_STACK)))
        note_revision(v, policy, c->after, object_label(c->after, LABEL_STACK), false);
}

void check_begin_commit(struct invariants *v, const struct api_commit *c)
{
    if (!c->after)
        return;
    if (check_is_kind(c->kind, "gpuclusterpolicies"))
        note_approval(v, c);
    else if (check_is_kind(c->kind, "nodes") && c->before)
        note_node(v, c);
}
