/* Conditions that Ostler writes: of the policy, and GpuReady and GpuHealthy of nodes. Judged from
 * what was committed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "tests/sweep/checks.h"

enum {
    WORD_MAX = 16,
    /* What is committed comes to Ostler, and what it says of that to the server. */
    ON_ITS_WAY_MS = 100,
    /* A transition soon after the one before may have the same time: both are in seconds of the API
     * server. */
    SECOND_MS = 2500,
    /* Where something goes wrong: a write whose answer was lost is sent once more, and an Ostler
     * that takes over after 15 s, with a clock of its own, may be shown what was so before. */
    TROUBLE_MS = 10 * 60 * 1000,
    RECOVERS_MS = 65 * 1000,
};

/* The last time that the status of a condition changed. */
struct turn {
    int64_t at_ms, world_ms; /* … and when the world had last changed before that */
    bool told;               /* whoever wrote it had been told of that change */
    /* it was the first word of another generation of the policy, which is taken in from then on */
    bool fresh;
    char from[WORD_MAX]; /* "True" */
    char key[];
};

/* ---- what has changed */

/* Whether a commit changes what conditions speak of: neither what Ostler says, nor what follows
 * from something else. */
static bool is_of_the_world(const struct api_commit *c)
{
    static const char *const words[] = { "leases", "events" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (check_is_kind(c->kind, words[i]))
            return false;
    bool status = str_eq(c->subresource, "status");
    return str_eq(c->user, OSTLER_USER) ? !status
                                        : !(status && check_is_kind(c->kind, "daemonsets"));
}

/* The node that a commit concerns; NULL: none, or all of them. Borrowed. */
static const char *node_of(const struct api_commit *c)
{
    const json_t *object = c->after ? c->after : c->before;
    if (check_is_kind(c->kind, "pods"))
        return json_str(object, "spec.nodeName");
    return check_is_kind(c->kind, "nodes") || check_is_kind(c->kind, "gpunodes")
               ? object_name(object)
               : NULL;
}

/* When something last changed that a condition of this object speaks of. */
static int64_t world_ms(const struct invariants *v, const struct api_commit *c)
{
    if (!check_is_kind(c->kind, "nodes"))
        return v->world_ms;
    int64_t own_ms = check_noted(&v->prerequisites, object_name(c->after));
    return own_ms > v->common_ms ? own_ms : v->common_ms;
}

void check_flap_commit(struct invariants *v, const struct api_commit *c)
{
    if (!is_of_the_world(c))
        return;
    const char *node = node_of(c);
    v->world_ms = v->run->sim.now_ms;
    if (v->world_rv && !v->world_told)
        v->crowded_ms = v->world_ms; /* another watch may bring that one after this one */
    v->world_rv = c->rv;
    v->world_told = 0;
    if (node)
        check_note(v, &v->prerequisites, node);
    else if (!check_is_kind(c->kind, "pods"))
        v->common_ms = v->run->sim.now_ms;
}

/* Whether some bytes of a watch bring the last change of the world. Those that are cut there are
 * not known. */
static bool brings_it(const struct invariants *v, const struct wire_taken *t)
{
    CLEANUP_FREE char *text = xasprintf("\"resourceVersion\":\"%llu\"",
                                        (unsigned long long) v->world_rv);
    return v->world_rv && memmem(t->bytes, t->len, text, strlen(text));
}

/* What comes to nothing is spoken of in the status. */
void check_flap_taken(struct invariants *v, const struct wire_client *c, const struct wire_taken *t)
{
    if (t->part == WIRE_END && (t->broken || t->status >= 300)) {
        v->world_ms = v->common_ms = v->run->sim.now_ms;
        v->world_rv = v->world_told = 0;
    }
    bool news = t->part == WIRE_BYTES && t->request->class == REQUEST_WATCH && !v->world_told;
    if (news && wire_client_number(c) == v->writer && brings_it(v, t))
        v->world_told = ++v->order;
}

/* One that starts anew, or takes over, sees the world anew: what it must not change then is looked
 * at where all is quiet. */
void check_flap_sent(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    if (r->class != REQUEST_WRITE)
        return;
    if (v->writer != wire_client_number(c)) {
        v->world_ms = v->common_ms = v->run->sim.now_ms;
        v->world_rv = v->world_told = 0;
    }
    v->writer = wire_client_number(c);
    if (r->resource == RESOURCE_POLICY)
        v->policy_sent = ++v->order;
}

/* ---- to and fro */

/* What Ostler says of itself, which nothing else has to change for: that a write came to nothing,
 * that it has just begun, or that the storm brake is on, which time releases. */
static bool is_of_itself(const json_t *condition)
{
    const char *reason = json_str(condition, "reason");
    return str_eq(reason, "ReconcileFailed") || str_eq(reason, "Reading") ||
           str_eq(reason, "Braked");
}

/* Whether something was wrong so lately that one watch may have brought what is newer than what
 * another has. */
static bool is_troubled(const struct invariants *v)
{
    return !v->run->plan->calm && v->run->sim.now_ms - v->moments.troubled_ms < RECOVERS_MS;
}

/* A reason follows the steps of a rollout; what other programs act on is the status. */
static void check_turn(struct invariants *v, const struct api_commit *c, const char *type,
                       const json_t *was, const json_t *is)
{
    const char *from = json_str_or_empty(was, "status"), *to = json_str_or_empty(is, "status");
    if (!was)
        return;
    check_tried(v, INVARIANT_L9_FLAP);
    if (str_eq(from, to) || is_of_itself(was) || is_of_itself(is) || is_troubled(v))
        return;
    CLEANUP_FREE char *key = xasprintf("%s/%s %s", c->kind->plural, object_uid(c->after), type);
    struct turn *last = map_get(&v->turns, key);
    int64_t now_ms = v->run->sim.now_ms, changed_ms = world_ms(v, c);
    if (last) {
        bool known = !last->fresh && (last->told || changed_ms < last->at_ms - ON_ITS_WAY_MS);
        if (str_eq(last->from, to) && changed_ms <= last->world_ms && known)
            check_failed(v, INVARIANT_L9_FLAP,
                         "%s of %s goes from %s to %s and back; nothing has changed since %lld ms",
                         type, object_name(c->after), to, from, (long long) changed_ms);
    } else {
        size_t size = strlen(key) + 1;
        last = xcalloc(1, sizeof *last + size);
        memcpy(last->key, key, size);
        map_put(&v->turns, last->key, last);
    }
    last->at_ms = now_ms;
    last->world_ms = changed_ms;
    last->fresh = json_int(was, "observedGeneration", 0) != json_int(is, "observedGeneration", 0);
    bool told = v->world_told && v->world_told < v->policy_sent &&
                now_ms - v->crowded_ms >= ON_ITS_WAY_MS;
    last->told = told && check_is_kind(c->kind, "gpuclusterpolicies");
    snprintf(last->from, sizeof last->from, "%s", from);
}

/* ---- times */

static void check_time(struct invariants *v, const struct api_commit *c, const char *type,
                       const json_t *was, const json_t *is)
{
    CLEANUP_FREE char *key = xasprintf("%s/%s %s", c->kind->plural, object_uid(c->after), type);
    if (!was)
        check_note(v, &v->transitions, key);
    if (!was)
        return;
    check_tried(v, INVARIANT_S9_TIMES);
    const char *before = json_str_or_empty(was, "lastTransitionTime"),
               *after = json_str_or_empty(is, "lastTransitionTime");
    bool turned = !str_eq(json_str(was, "status"), json_str(is, "status")),
         moved = !str_eq(before, after);
    int64_t last_ms = check_noted(&v->transitions, key), now_ms = v->run->sim.now_ms;
    int64_t near_ms = !v->run->plan->calm ? TROUBLE_MS : turned ? SECOND_MS : 0;
    bool near = last_ms >= 0 && now_ms - last_ms < near_ms;
    if (turned != moved && !near)
        check_failed(v, INVARIANT_S9_TIMES, "%s of %s: %s since %s, after %s since %s", type,
                     object_name(c->after), json_str_or_empty(is, "status"), after,
                     json_str_or_empty(was, "status"), before);
    if (turned)
        check_note(v, &v->transitions, key);
}

/* ---- the conditions of an object */

static void check_condition_of(struct invariants *v, const struct api_commit *c, const json_t *is,
                               void (*check)(struct invariants *, const struct api_commit *,
                                             const char *, const json_t *, const json_t *))
{
    const char *type = json_str_or_empty(is, "type");
    bool ours = check_is_kind(c->kind, "gpuclusterpolicies") || str_eq(type, NODE_CONDITION) ||
                str_eq(type, NODE_CONDITION_HEALTH);
    if (ours)
        check(v, c, type, json_find(json_at(c->before, "status.conditions"), "type", type), is);
}

static void each_condition(struct invariants *v, const struct api_commit *c,
                           void (*check)(struct invariants *, const struct api_commit *,
                                         const char *, const json_t *, const json_t *))
{
    size_t i;
    json_t *is;
    if (c->before && c->after &&
        (check_is_kind(c->kind, "gpuclusterpolicies") || check_is_kind(c->kind, "nodes")))
        json_array_foreach (json_at(c->after, "status.conditions"), i, is)
            check_condition_of(v, c, is, check);
}

void check_flap(struct invariants *v, const struct api_commit *c)
{
    each_condition(v, c, check_turn);
}

void check_times(struct invariants *v, const struct api_commit *c)
{
    each_condition(v, c, check_time);
}

void check_flap_clear(struct invariants *v)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->turns, &cursor)))
        free(e->value);
    map_clear(&v->turns);
}
