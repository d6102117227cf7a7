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
    struct actions *actions;
};

static bool is_another(const struct news *n, const struct child *c)
{
    return cluster_is_record(c, n->tier) && !str_eq(c->revision, n->hash);
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

/* Adds an Event; its note begins with the revision and the pool. */
static void add_event(const struct news *n, enum reason reason, bool warning, const char *note)
{
    actions_add_notice(n->actions,
                       &(struct notice){ .resource = RESOURCE_POLICY,
                                         .name = (char *) object_name(n->v->object),
                                         .uid = (char *) object_uid(n->v->object),
                                         .warning = warning,
                                         .share = EVENTS_OF_ROLLOUTS,
                                         .reason = reason_text(reason),
                                         .action = "Rollout",
                                         .note = arena_printf(n->a, "%s: %s", what(n), note),
                                         .of_action = n->actions->len });
}

/* If nothing ran before, a first installation is no rollout. */
static void add_target_event(const struct news *n)
{
    if (another_has(n, ANNOTATION_RAN))
        add_event(n, REASON_ROLLOUT_STARTED, false, "the policy asks for it on nodes");
}

static void add_canary_event(const struct news *n)
{
    /* If it is not well now, the node has the reason. */
    if (clock_parse_rfc3339(n->value) >= 0)
        add_event(
            n, REASON_CANARY_READY, false,
            arena_printf(
                n->a,
                "the canary has run it since %s; other nodes follow after spec.rollout.canary.soak",
                n->value));
}

static void add_wave_event(const struct news *n)
{
    if (clock_parse_rfc3339(n->value) < 0)
        add_event(n, REASON_WAVE_STARTED, false, "the next wave begins");
    else
        add_event(n, REASON_WAVE_COMPLETED, false,
                  arena_printf(
                      n->a,
                      "the wave has run it since %s; the next one follows after spec.rollout.soak",
                      n->value));
}

static void add_failed_event(const struct news *n)
{
    bool back = !str_eq(json_str(n->v->object, "spec.rollout.onFailure"), "Pause");
    /* "TIME gpu-1 CrashLoopBackOff" */
    const char *where = strchr(n->value, ' '), *with = where ? strchr(where + 1, ' ') : NULL;
    const char *place = with ? arena_printf(n->a, " on %.*s with %s", (int) (with - where - 1),
                                            where + 1, with + 1)
                             : "";
    const char *then =
        back ? "Ostler rolls back the nodes on which it failed and those that are being upgraded"
             : "Ostler rolls no node back, because spec.rollout.onFailure is Pause";
    add_event(n, REASON_REVISION_FAILED, true,
              arena_printf(
                  n->a,
                  "it failed%s, and no other node of this pool gets it; %s. Change the policy, or "
                  "retry the revision: " POLICY_RETRY_COMMAND,
                  place, then, retry_value(n->annotations, n->hash, n->a)));
}

static void add_retried_event(const struct news *n)
{
    add_event(n, REASON_REVISION_RETRIED, false, "a user asked for another attempt");
}

static void add_completed_event(const struct news *n)
{
    if (another_has(n, ANNOTATION_FAILED))
        add_event(n, REASON_ROLLED_BACK, false,
                  "every node that was rolled back, and is up, runs it");
    else if (another_has(n, ANNOTATION_RAN))
        add_event(n, REASON_ROLLOUT_COMPLETED, false,
                  "every node that is up runs it; from now on Ostler rolls back to it");
}

static const struct {
    const char *annotation; /* followed by the pool's name */
    void (*add)(const struct news *n);
} rows[] = {
    { ANNOTATION_TARGET, add_target_event },   { ANNOTATION_CANARY, add_canary_event },
    { ANNOTATION_WAVE, add_wave_event },       { ANNOTATION_FAILED, add_failed_event },
    { ANNOTATION_RETRIED, add_retried_event }, { ANNOTATION_COMPLETED, add_completed_event },
};

void rollout_events(const struct cluster_view *v, const char *tier, const char *hash,
                    const struct child *record, const json_t *annotations, struct actions *actions)
{
    CLEANUP_ARENA struct arena a = { 0 };
    JSON_EACH_MEMBER (key, value, annotations) {
        struct news n = { v,
                          tier,
                          hash,
                          .value = json_string_value(value),
                          .annotations = annotations,
                          .a = &a,
                          .actions = actions };
        /* An empty annotation is being removed. */
        if (!v->object || !*str_or_empty(n.value) ||
            str_eq(n.value, record ? json_key(record->annotations, key) : NULL))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            if (str_has_prefix(key, rows[i].annotation)) {
                n.pool = key + strlen(rows[i].annotation);
                rows[i].add(&n);
            }
    }
}
