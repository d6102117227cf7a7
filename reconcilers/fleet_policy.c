/* The policy on the fleet page: the texts of its status, and what nodes wait for. */
#include "base/json.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/decide/status.h"
#include "reconcilers/fleet_fields.h"
#include "reconcilers/fleet_status.h"
#include "reconcilers/fleet_view.h"

/* The page has room for these. */
enum { BLOCKERS_MAX = 10, WINDOWS_MAX = 8 };

/* Texts that the status may lack, while Ostler has not written it yet. */
static json_t *text_of(const json_t *object, const char *path, const char *fallback)
{
    const char *text = json_str(object, path);
    return json_text(text ? text : fallback);
}

static json_t *or_null(const json_t *value)
{
    return value ? json_incref((json_t *) value) : json_null();
}

static json_t *health_json(const struct cluster *c)
{
    const json_t *braked = condition_of(c->object, "HealthBraked");
    return json_pack("{s:o, s:b, s:o, s:o}", "mode",
                     text_of(c->policy_valid ? c->policy.spec : NULL, "health.mode", ""), "braked",
                     condition_is_true(c->object, "HealthBraked"), "reason",
                     text_of(braked, "reason", ""), "message", text_of(braked, "message", ""));
}

/* ---- what the rollout waits for, as the spec has it */

static json_t *time_json(int64_t at_s)
{
    char text[CLOCK_TEXT_MAX];
    if (at_s == INT64_MAX)
        return json_null();
    clock_rfc3339(at_s * 1000000, text);
    return json_text(text);
}

/* The windows ahead; null: nodes may be changed at any time. */
static json_t *windows_json(const struct cluster *c)
{
    struct window_span spans[WINDOWS_MAX];
    if (!c->policy_valid || c->rollout.window_count == 0)
        return json_null();
    size_t n = windows_ahead(c->rollout.windows, c->rollout.window_count,
                             cluster_wall_us(c) / 1000000, WINDOWS_MAX, spans);
    json_t *windows = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(windows, json_pack("{s:o, s:o}", "opens", time_json(spans[i].opens_s),
                                                 "closes", time_json(spans[i].closes_s)));
    return windows;
}

static json_t *soak_json(const struct cluster *c)
{
    if (!c->policy_valid)
        return json_null();
    return json_pack("{s:I, s:I}", "canary", (json_int_t) c->rollout.canary_soak_s, "wave",
                     (json_int_t) c->rollout.soak_s);
}

/* ---- what nodes wait for */

/* Whether a node waits for something: it is out of service for a change, or that failed. */
static bool waits(const struct node_slot *slot)
{
    const struct node_summary *s = &slot->summary;
    return slot->node && s->counted && (s->next_text || s->state == NODE_FAILED);
}

/* Those that have waited for longest come first. */
static bool waits_longer(const struct node_slot *a, const struct node_slot *b)
{
    return a->summary.since_s < b->summary.since_s;
}

static size_t find_waiting(const struct cluster *c, const struct node_slot *ret[BLOCKERS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < c->slots.len; i++) {
        const struct node_slot *put = c->by_name[i];
        if (!waits(put))
            continue;
        for (size_t k = 0; k < BLOCKERS_MAX && put; k++) {
            const struct node_slot *there = k < n ? ret[k] : NULL;
            if (there && !waits_longer(put, there))
                continue;
            ret[k] = put;
            put = there;
        }
        n += n < BLOCKERS_MAX;
    }
    return n;
}

/* The first pod of what the node waits for, NULL: there is none. */
static const json_t *first_pod(const json_t *status)
{
    return json_find(json_object_get(status, "waitingFor"), "kind", "Pod");
}

/* What the node's GpuNode says. Of what it waits for, what needs a user's action comes first. */
static json_t *blocker_json(const struct cluster *c, const struct node_slot *slot, const char *now)
{
    CLEANUP_JSON json_t *status = fleet_status(c, slot, now);
    const json_t *wait = json_array_get(json_object_get(status, "waitingFor"), 0),
                 *pod = first_pod(status);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "node", slot->name, "pod",
                     pod ? json_textf("%s/%s", json_str_or_empty(pod, "namespace"),
                                      json_str_or_empty(pod, "name"))
                         : json_null(),
                     "since", or_null(json_object_get(status, "since")), "reason",
                     text_of(wait ? wait : status, "reason", ""), "message",
                     text_of(status, "message", ""), "next", text_of(status, "next.message", ""));
}

static json_t *blockers_json(const struct cluster *c)
{
    const struct node_slot *slots[BLOCKERS_MAX];
    size_t n = find_waiting(c, slots);
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(cluster_wall_us(c), now);
    json_t *blockers = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(blockers, blocker_json(c, slots[i], now));
    return blockers;
}

/* ---- counts: of the same moment as the nodes beside them. The status is up to ten seconds older
 * during an upgrade. */

static json_t *rollout_now(const struct cluster *c, const json_t *status)
{
    json_t *rollout = json_copy(json_object_get(status, "rollout"));
    const struct rollout_report *r = c->rolled;
    if (!rollout)
        return json_null();
    if (r && r->known) {
        CLEANUP_JSON json_t *counts = status_rollout_counts_json(r);
        json_object_update(rollout, counts);
    }
    return rollout;
}

static json_t *pools_now(const struct cluster *c, const json_t *status)
{
    json_t *pools = json_deep_copy(json_object_get(status, "pools"));
    for (size_t i = 0; c->policy_valid && i < c->policy.pools_len; i++) {
        json_t *pool = json_find(pools, "name", c->policy.pools[i].name);
        CLEANUP_JSON json_t *counts = status_pool_counts_json(&c->tally, i);
        json_object_update(pool, counts);
    }
    return pools ? pools : json_array();
}

/* ---- all of it */

static json_t *or_empty_list(const json_t *value)
{
    return value ? json_incref((json_t *) value) : json_array();
}

void fleet_policy(const struct fleet_source *s, struct buf *out)
{
    const struct cluster *c = s->cluster;
    const json_t *status = json_object_get(c->object, "status"),
                 *ready = condition_of(c->object, "Ready");
    if (!c->object) {
        buf_str(out, "null");
        return;
    }
    CLEANUP_JSON json_t *whole = json_pack(
        "{s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        object_name(c->object), "ready", text_of(ready, "status", "Unknown"), "reason",
        text_of(ready, "reason", ""), "message", text_of(ready, "message", ""), "paused",
        json_bool(c->object, "spec.rollout.paused", false), "conditions",
        or_empty_list(json_object_get(status, "conditions")), "nodes", status_nodes_json(&c->tally),
        "rollout", rollout_now(c, status), "pools", pools_now(c, status), "windows",
        windows_json(c), "soak", soak_json(c), "health", health_json(c), "blockers",
        blockers_json(c));
    CLEANUP_JSON json_t *picked = fleet_fields_pick(whole, fleet_policy_fields);
    CLEANUP_FREE char *text = json_compact(picked);
    buf_str(out, text);
}
