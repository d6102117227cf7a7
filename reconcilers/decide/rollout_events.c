#include "reconcilers/decide/rollout_events.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/retry.h"

/* One annotation that is added or changes. */
struct news {
    const struct cluster_view *v;
    const char *tier, *hash, *pool;
    const char *value;
    const json_t *annotations; /* all annotations of the record, with this one */
    struct arena *a;
};

/* The Event for it. */
struct telling {
    enum reason reason; /* NONE: no Event */
    const char *note;
    bool warning;
};

static bool is_another(const struct news *n, const struct child *c)
{
    return c->resource == RESOURCE_REVISION && child_is_ours(c) &&
           str_eq(json_str(c->inputs, "tier"), n->tier) && !str_eq(c->revision, n->hash);
}

/* "driver 580.178.04, pool default"; with the hash if another revision for the same hosts has the
 * same title. */
static const char *what(const struct news *n)
{
    const json_t *inputs = cluster_inputs(n->v, n->tier, n->hash);
    bool namesake = false;
    for (size_t i = 0; i < n->v->child_count; i++) {
        const struct child *c = n->v->children[i];
        namesake |= is_another(n, c) && revision_same_title(c->inputs, inputs, n->tier) &&
                    revision_same_host(c->inputs, inputs);
    }
    return arena_printf(n->a, "%s, pool %s",
                        revision_name(n->a, inputs, n->tier, n->hash, namesake), n->pool);
}

/* Whether another revision of the tier has an annotation for the pool. */
static bool another_has(const struct news *n, const char *annotation)
{
    const char *key = arena_printf(n->a, "%s%s", annotation, n->pool);
    for (size_t i = 0; i < n->v->child_count; i++) {
        const struct child *c = n->v->children[i];
        if (is_another(n, c) && json_key(c->annotations, key))
            return true;
    }
    return false;
}

/* If nothing ran before, a first installation is no rollout. */
static struct telling tell_target(const struct news *n)
{
    if (!another_has(n, ANNOTATION_RAN))
        return (struct telling){ 0 };
    return (struct telling){ .reason = REASON_ROLLOUT_STARTED,
                             .note = arena_printf(n->a, "%s: the policy asks for it on nodes",
                                                  what(n)) };
}

static struct telling tell_canary(const struct news *n)
{
    /* It is not well now; the node has the reason. */
    if (clock_parse_rfc3339(n->value) < 0)
        return (struct telling){ 0 };
    return (struct telling){ .reason = REASON_CANARY_READY,
                             .note = arena_printf(
                                 n->a,
                                 "%s: the canary has run it since %s; other nodes follow after "
                                 "spec.rollout.canary.soak",
                                 what(n), n->value) };
}

static struct telling tell_wave(const struct news *n)
{
    bool begins = clock_parse_rfc3339(n->value) < 0;
    return (struct telling){
        .reason = begins ? REASON_WAVE_STARTED : REASON_WAVE_COMPLETED,
        .note = begins
                    ? arena_printf(n->a, "%s: the next wave begins", what(n))
                    : arena_printf(n->a,
                                   "%s: the wave has run it since %s; the next one follows after "
                                   "spec.rollout.soak",
                                   what(n), n->value)
    };
}

static struct telling tell_failed(const struct news *n)
{
    bool back = !str_eq(json_str(n->v->object, "spec.rollout.onFailure"), "Pause");
    /* "TIME gpu-1 CrashLoopBackOff" */
    const char *where = strchr(n->value, ' '), *with = where ? strchr(where + 1, ' ') : NULL;
    const char *place = with ? arena_printf(n->a, " on %.*s with %s", (int) (with - where - 1),
                                            where + 1, with + 1)
                             : "";
    return (struct telling){
        .reason = REASON_REVISION_FAILED,
        .warning = true,
        .note = arena_printf(
            n->a,
            "%s: it failed%s, and no other node gets it; %s. Change the policy, or "
            "have it tried again: " POLICY_RETRY_COMMAND,
            what(n), place,
            back ? "Ostler rolls back the nodes on which it failed and those that are "
                   "being upgraded"
                 : "Ostler rolls no node back, because spec.rollout.onFailure is Pause",
            retry_value(n->annotations, n->hash, n->a))
    };
}

static struct telling tell_retried(const struct news *n)
{
    return (struct telling){ .reason = REASON_REVISION_RETRIED,
                             .note = arena_printf(n->a, "%s: a user asked for another attempt",
                                                  what(n)) };
}

static struct telling tell_completed(const struct news *n)
{
    if (another_has(n, ANNOTATION_FAILED))
        return (struct telling){
            .reason = REASON_ROLLED_BACK,
            .note = arena_printf(n->a, "%s: every node that was rolled back, and is up, runs it",
                                 what(n))
        };
    if (!another_has(n, ANNOTATION_RAN))
        return (struct telling){ 0 };
    return (struct telling){
        .reason = REASON_ROLLOUT_COMPLETED,
        .note = arena_printf(
            n->a, "%s: every node that is up runs it; from now on Ostler rolls back to it", what(n))
    };
}

static const struct {
    const char *annotation; /* followed by the pool's name */
    struct telling (*tell)(const struct news *n);
} rows[] = {
    { ANNOTATION_TARGET, tell_target },   { ANNOTATION_CANARY, tell_canary },
    { ANNOTATION_WAVE, tell_wave },       { ANNOTATION_FAILED, tell_failed },
    { ANNOTATION_RETRIED, tell_retried }, { ANNOTATION_COMPLETED, tell_completed },
};

static void rollout_events_add(const struct telling *t, const struct news *n,
                               struct actions *actions)
{
    if (!t->reason)
        return;
    actions_add_notice(actions, &(struct notice){ .resource = RESOURCE_POLICY,
                                                  .name = (char *) object_name(n->v->object),
                                                  .uid = (char *) object_uid(n->v->object),
                                                  .warning = t->warning,
                                                  .important = true,
                                                  .reason = reason_text(t->reason),
                                                  .action = "Rollout",
                                                  .note = (char *) t->note,
                                                  .of_action = actions->len });
}

void rollout_events(const struct cluster_view *v, const char *tier, const char *hash,
                    const struct child *record, const json_t *annotations, struct actions *actions)
{
    CLEANUP_ARENA struct arena a = { 0 };
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) annotations, key, value) {
        /* An empty annotation is being removed. */
        if (!v->object || !*str_or_empty(json_string_value(value)) ||
            str_eq(json_string_value(value), record ? json_key(record->annotations, key) : NULL))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            if (!str_has_prefix(key, rows[i].annotation))
                continue;
            struct news n = {
                v,           tier, hash, key + strlen(rows[i].annotation), json_string_value(value),
                annotations, &a
            };
            struct telling t = rows[i].tell(&n);
            rollout_events_add(&t, &n, actions);
        }
    }
}
