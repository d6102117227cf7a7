/* Case files: tests/cases/rollout/ has one file per behaviour, no code. The first document is what
 * is seen:
 *   rollout: of the policy's spec; without a canary where it does not say so
 *   unchecked: the same, past the policy's own checks
 *   now: the time; noon of a Saturday where it does not say so     clockSet: by how much the wall
 *   clock was set forward
 *   health: of the policy's spec
 *   nodes: {name, count, pool, domain, gpus, busy, jobs, processes (of those), driver, stack, to,
 *   toStack, wish (the driver
 *     that the policy says, where it is not `to`), claim, and of the flags below those that hold};
 *     a node runs driver d1 and
 *     stack s1, has 1 GPU, and is to get driver d2; `count` makes as many, their names numbered
 *     from 1
 *     images: Unknown, Pulling or Missing, where they are not all there     asked: how long it
 *     pulls, 10m
 *     image, words: which one is missing (none: it is not about one), and why
 *     claim: {phase, kind, since, claimed, attempt, gpus, driver, stack, fromDriver, fromStack,
 *     reason, sentinel}
 *       from d1 to what the node is to get, with its GPUs
 *     fault: {word, since, level (Close), hard}     driverFor: since when it has its driver
 *     repair: Idle, Fault or Asked     sickSince: when it began to ask, 1h     gpuPods: on it,
 *     though none runs
 *     free: since when it waits without a job on it
 *     flags: down, unhealthy, cordoned, held, closed, letGo, leaving (and let go), gaveUp,
 *     sick (not settled), ostler
 *   revisions: {hash, name, failure, retry, pool, canary (since when, or "soaked 5m"), wave (a
 *   time, or Running), forgiven,
 *     and of the flags failed and knownGood those that hold}
 *   pullRefused: how the server refused a pod that was to pull
 *   approved: a hash, or $plan for that of the present plan
 * Times are how long ago something was: "10m"; "-10m" is still to come. The second document is what
 * must come of it:
 *   returns: nodes that return to service, "n" or "n for m", in their order     why: parts of their
 *   sentences
 *   grants: "ClaimWaiting n", "Claim n", "Drain n" or "Retry n", in their order; a repair is
 *   "ClaimRepair n", or "ClaimRepair n with its target"
 *   notes: {hash, pool, canary, wave, failed: a node}
 *   pulls: who is to pull its images, in their order
 *   hold: the reason     message: a part of it     again: in how long to look again; null: not at
 *   all
 *   until: when the hold ends by itself, in RFC 3339; null: unknown
 *   nodes: {pending, active, waiting, failed, skipped, done}, those that are not 0
 *   plan: there is one
 *   says: parts of the grants' sentences, in their order */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/decide/rollout.h"
#include "reconcilers/decide/rollout_message.h"
#include "tests/unit/support/cases.h"

enum { POOLS = 2 };
static const char *const pool_names[POOLS] = { "default", "legacy" };
static const char *const kinds[] = { [GRANT_CLAIM_WAITING] = "ClaimWaiting",
                                     [GRANT_CLAIM] = "Claim",
                                     [GRANT_DRAIN] = "Drain",
                                     [GRANT_RETRY] = "Retry" };

struct seen {
    struct arena arena;
    struct policy policy;
    struct rollout_spec spec;
    struct health_spec health;
    struct rollout_node *nodes;
    struct rollout_revision *revisions;
    struct rollout_input in;
};

/* ---- what is seen */

static int64_t span(const char *text)
{
    int64_t ms = 0;
    if (!str_parse_duration(text, &ms))
        fail_msg("%s is no duration", text);
    return ms / 1000;
}

static int64_t ago(const struct seen *s, const json_t *of, const char *key, int64_t fallback)
{
    const char *text = json_str(of, key);
    if (!text)
        return fallback;
    return *text == '-' ? s->in.now_s + span(text + 1) : s->in.now_s - span(text);
}

static const char *text_of(const json_t *of, const char *key, const char *fallback)
{
    const char *text = json_str(of, key);
    return text ? text : fallback;
}

static bool flag(const json_t *of, const char *key)
{
    return json_bool(of, key, false);
}

static size_t pool_of(const json_t *of)
{
    return str_eq(json_str(of, "pool"), pool_names[1]) ? 1 : 0;
}

static enum claim_phase phase_of(const char *name)
{
    for (size_t i = 0; i < CLAIM_PHASE_COUNT; i++)
        if (str_eq(claim_phase_name((enum claim_phase) i), name))
            return (enum claim_phase) i;
    fail_msg("%s is no phase of a claim", name);
    return CLAIM_PHASE_COUNT;
}

static void copy_text(char *to, size_t max, const char *from)
{
    assert_true(strlen(from) < max);
    strcpy(to, from);
}

static enum claim_kind kind_of(const char *name)
{
    for (size_t i = 0; i < CLAIM_KIND_COUNT; i++)
        if (str_eq(claim_kinds[i].name, name))
            return (enum claim_kind) i;
    fail_msg("%s is no kind of a claim", name);
    return CLAIM_KIND_COUNT;
}

static enum repair_need repair_of(const json_t *brief)
{
    static const char *const names[] = { [REPAIR_NOTHING] = "",
                                         [REPAIR_IDLE] = "Idle",
                                         [REPAIR_FAULT] = "Fault",
                                         [REPAIR_ASKED] = "Asked" };
    const char *name = json_str_or_empty(brief, "repair");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i], name))
            return (enum repair_need) i;
    fail_msg("%s is no need of a repair", name);
    return REPAIR_NOTHING;
}

static const struct claim *see_claim(struct seen *s, const json_t *brief,
                                     const struct rollout_node *n)
{
    if (!brief)
        return NULL;
    struct claim *c = arena_alloc(&s->arena, sizeof *c);
    c->kind = kind_of(text_of(brief, "kind", claim_kinds[CLAIM_UPGRADE].name));
    c->phase = phase_of(text_of(brief, "phase", "Installing"));
    c->since_s = ago(s, brief, "since", s->in.now_s - 60);
    c->claimed_s = ago(s, brief, "claimed", c->since_s);
    c->attempt = (unsigned) json_int(brief, "attempt", 1);
    c->sentinel = flag(brief, "sentinel");
    c->gpus = (unsigned) json_int(brief, "gpus", (json_int_t) n->gpus);
    copy_text(c->to.hash[TIER_DRIVER], sizeof c->to.hash[TIER_DRIVER],
              text_of(brief, "driver", n->target.hash[TIER_DRIVER]));
    copy_text(c->to.hash[TIER_STACK], sizeof c->to.hash[TIER_STACK],
              text_of(brief, "stack", n->target.hash[TIER_STACK]));
    copy_text(c->from.hash[TIER_DRIVER], sizeof c->from.hash[TIER_DRIVER],
              text_of(brief, "fromDriver", "d1"));
    copy_text(c->from.hash[TIER_STACK], sizeof c->from.hash[TIER_STACK],
              text_of(brief, "fromStack", "s1"));
    copy_text(c->reason, sizeof c->reason,
              text_of(brief, "reason", c->phase == CLAIM_FAILED ? "InstallTimeout" : ""));
    return c;
}

static struct images see_images(const struct seen *s, const json_t *brief)
{
    static const char *const names[] = { [IMAGES_READY] = "Ready",
                                         [IMAGES_UNKNOWN] = "Unknown",
                                         [IMAGES_PULLING] = "Pulling",
                                         [IMAGES_MISSING] = "Missing" };
    const char *name = text_of(brief, "images", names[IMAGES_READY]);
    struct images images = { .since_s = ago(s, brief, "asked", s->in.now_s - 600),
                             .image = json_str(brief, "image"),
                             .words = json_str(brief, "words") };
    while (images.state < ARRAY_LEN(names) && !str_eq(names[images.state], name))
        images.state++;
    if (images.state == ARRAY_LEN(names))
        fail_msg("%s is no state of images", name);
    return images;
}

static struct health_fault see_fault(const struct seen *s, const json_t *brief)
{
    enum health_level level = HEALTH_CLOSE;
    const char *name = json_str(brief, "level");
    for (size_t i = 0; name && i < HEALTH_LEVELS; i++)
        if (str_eq(health_level_name((enum health_level) i), name))
            level = (enum health_level) i;
    if (!brief)
        return (struct health_fault){ 0 };
    return (struct health_fault){ .level = level,
                                  .hard = flag(brief, "hard"),
                                  .since_s = ago(s, brief, "since", s->in.now_s),
                                  .word = text_of(brief, "word", "Xid119") };
}

static struct rollout_node see_node(struct seen *s, const json_t *brief, const char *name)
{
    struct rollout_node n = {
        .name = name,
        .pool = pool_of(brief),
        .now = { { text_of(brief, "driver", "d1"), text_of(brief, "stack", "s1") } },
        .target = { { text_of(brief, "to", "d2"), text_of(brief, "toStack", "s1") } },
        .policy_target.hash[TIER_DRIVER] = json_str(brief, "wish"),
        .domain = text_of(brief, "domain", ""),
        .images = see_images(s, brief),
        .gpus = (unsigned) json_int(brief, "gpus", 1),
        .jobs = (unsigned) json_int(brief, "jobs", 0),
        .processes = (unsigned) json_int(brief, "processes", 0),
        .up = !flag(brief, "down"),
        .cordoned = flag(brief, "cordoned"),
        .unhealthy = flag(brief, "unhealthy"),
        .held = flag(brief, "held"),
        .closed = flag(brief, "closed"),
        .let_go = flag(brief, "letGo") || flag(brief, "leaving"),
        .leaving = flag(brief, "leaving"),
        .retarget_pending = flag(brief, "turns"),
        .gave_up = flag(brief, "gaveUp"),
        .runs_ostler = flag(brief, "ostler"),
        .fault = see_fault(s, json_object_get(brief, "fault")),
        .driver_s = ago(s, brief, "driverFor", 0),
        .repair = repair_of(brief),
        .repair_since_s = ago(s, brief, "sickSince", s->in.now_s - 60),
    };
    n.busy = (unsigned) json_int(brief, "busy", n.jobs);
    n.idle = !n.busy && !n.jobs && !flag(brief, "gpuPods");
    n.claim = see_claim(s, json_object_get(brief, "claim"), &n);
    n.free_s = ago(s, brief, "free", 0);
    n.settled = n.up && !n.claim && !flag(brief, "sick") && !n.unhealthy &&
                str_eq(n.now.hash[TIER_DRIVER], n.target.hash[TIER_DRIVER]) &&
                str_eq(n.now.hash[TIER_STACK], n.target.hash[TIER_STACK]);
    return n;
}

static void see_nodes(struct seen *s, const json_t *given)
{
    size_t i, all = 0;
    json_t *brief;
    json_array_foreach (json_object_get(given, "nodes"), i, brief)
        all += (size_t) json_int(brief, "count", 1);
    s->nodes = arena_alloc(&s->arena, all * sizeof *s->nodes);
    json_array_foreach (json_object_get(given, "nodes"), i, brief) {
        const char *name = json_str(brief, "name");
        int64_t count = json_int(brief, "count", 0);
        for (int64_t k = 1; k <= count; k++)
            s->nodes[s->in.node_count++] = see_node(
                s, brief, arena_printf(&s->arena, "%s%lld", name, (long long) k));
        if (!count)
            s->nodes[s->in.node_count++] = see_node(s, brief, name);
    }
    s->in.nodes = s->nodes;
}

/* Since when, or "soaked 5m": so long, and not now. */
static int64_t canary_of(const struct seen *s, const json_t *brief)
{
    const char *text = json_str_or_empty(brief, "canary");
    return str_has_prefix(text, "soaked ") ? -span(text + strlen("soaked "))
                                           : ago(s, brief, "canary", 0);
}

static void see_revisions(struct seen *s, const json_t *given)
{
    const json_t *briefs = json_object_get(given, "revisions");
    size_t i;
    json_t *brief;
    s->revisions = arena_alloc(&s->arena, json_array_size(briefs) * sizeof *s->revisions);
    json_array_foreach (briefs, i, brief)
        s->revisions[i] = (struct rollout_revision){
            .hash = json_str(brief, "hash"),
            .name = json_str(brief, "name"),
            .failure = json_str(brief, "failure"),
            .retry = json_str(brief, "retry"),
            .pool = pool_of(brief),
            .canary_s = canary_of(s, brief),
            .wave_s = str_eq(json_str(brief, "wave"), "Running") ? ROLLOUT_WAVE_RUNNING
                                                                 : ago(s, brief, "wave", 0),
            .forgiven_s = ago(s, brief, "forgiven", 0),
            .failed = flag(brief, "failed"),
            .known_good = flag(brief, "knownGood"),
        };
    s->in.revisions = s->revisions;
    s->in.revision_count = json_array_size(briefs);
}

static void see_spec(struct seen *s, const json_t *given)
{
    struct policy_problems problems = { 0 };
    json_t *rollout = json_pack("{s:{s:i}}", "canary", "nodes", 0);
    json_merge(rollout, json_object_get(given, "rollout"));
    CLEANUP_JSON json_t *object = json_pack("{s:s, s:s, s:{s:s}, s:{s:o, s:O*}}", "apiVersion",
                                            POLICY_API_VERSION, "kind", POLICY_KIND, "metadata",
                                            "name", POLICY_NAME, "spec", "rollout", rollout,
                                            "health", json_object_get(given, "health"));
    if (policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true },
                      &s->policy, &problems) < 0) {
        CLEANUP_FREE char *text = policy_problems_text(&problems);
        fail_msg("%s", text);
    }
    policy_problems_clear(&problems);
    json_merge(json_object_get(s->policy.spec, "rollout"), json_object_get(given, "unchecked"));
    rollout_spec_decode(s->policy.spec, &s->spec);
    health_spec_decode(s->policy.spec, true, &s->health);
    s->in.spec = &s->spec;
    s->in.health = &s->health;
}

static void see(struct seen *s, const json_t *given)
{
    *s = (struct seen){ .in = { .pool_names = pool_names } };
    s->in.now_s = clock_parse_rfc3339(text_of(given, "now", "2026-11-21T12:00:00Z")) / 1000000;
    s->in.set_s = json_str(given, "clockSet") ? span(json_str(given, "clockSet")) : 0;
    see_spec(s, given);
    see_nodes(s, given);
    see_revisions(s, given);
    s->in.approved = json_str(given, "approved");
    s->in.pull_refused = json_str(given, "pullRefused");
    if (str_eq(s->in.approved, "$plan")) {
        struct rollout_decision d;
        rollout_decide(&s->in, &s->arena, &d);
        s->in.approved = arena_strdup(&s->arena, d.plan_hash);
    }
}

/* ---- what came of it */

/* A repair brings what the node is to get, or what it ran. */
static const char *way_of(const struct rollout_grant *g)
{
    bool moves = !assignment_same(g->node->now, g->to);
    return !g->repairs ? "" : moves ? " with its target" : "";
}

static void check_grants(const json_t *want, const struct rollout_decision *d)
{
    CLEANUP_BUF struct buf got = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20);
    size_t i;
    json_t *line;
    for (size_t k = 0; k < d->grant_count; k++)
        buf_printf(&got, "%s%s %s%s\n", kinds[d->grants[k].kind],
                   d->grants[k].repairs ? "Repair" : "", d->grants[k].node->name,
                   way_of(&d->grants[k]));
    json_array_foreach (json_object_get(want, "grants"), i, line)
        buf_printf(&wanted, "%s\n", json_string_value(line));
    if (!str_eq(buf_text(&got), buf_text(&wanted)))
        fail_msg("granted is\n%snot\n%sand the rest is held: %s: %s", buf_text(&got),
                 buf_text(&wanted), reason_text(rollout_hold_reason(d->hold)), d->message);
    json_array_foreach (json_object_get(want, "says"), i, line)
        if (!strstr(d->grants[i].message, json_string_value(line)))
            fail_msg("the sentence is\n%s, without\n%s", d->grants[i].message,
                     json_string_value(line));
}

static void check_returns(const json_t *want, const struct rollout_decision *d)
{
    CLEANUP_BUF struct buf got = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20);
    size_t i;
    json_t *line;
    for (size_t k = 0; k < d->return_count; k++) {
        const char *idle = d->returns[k].makes_room_for;
        buf_printf(&got, "%s%s%s\n", d->returns[k].node->name, idle ? " for " : "",
                   str_or_empty(idle));
    }
    json_array_foreach (json_object_get(want, "returns"), i, line)
        buf_printf(&wanted, "%s\n", json_string_value(line));
    if (!str_eq(buf_text(&got), buf_text(&wanted)))
        fail_msg("to service return\n%snot\n%s", buf_text(&got), buf_text(&wanted));
    json_array_foreach (json_object_get(want, "why"), i, line)
        if (!strstr(d->returns[i].message, json_string_value(line)))
            fail_msg("the sentence is\n%s, without\n%s", d->returns[i].message,
                     json_string_value(line));
}

static void check_pulls(const json_t *want, const struct rollout_decision *d)
{
    CLEANUP_BUF struct buf got = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20);
    size_t i;
    json_t *name;
    for (size_t k = 0; k < d->pull_count; k++)
        buf_printf(&got, "%s\n", d->pulls[k]->name);
    json_array_foreach (json_object_get(want, "pulls"), i, name)
        buf_printf(&wanted, "%s\n", json_string_value(name));
    if (!str_eq(buf_text(&got), buf_text(&wanted)))
        fail_msg("to pull are\n%snot\n%s", buf_text(&got), buf_text(&wanted));
}

static void check_hold(const json_t *want, const struct rollout_decision *d)
{
    const char *hold = json_str_or_empty(want, "hold"),
               *message = json_str_or_empty(want, "message");
    if (json_object_get(want, "hold") && !str_eq(hold, reason_text(rollout_hold_reason(d->hold))))
        fail_msg("the hold is %s (%s), not %s", reason_text(rollout_hold_reason(d->hold)),
                 d->message, hold);
    if (!strstr(d->message, message))
        fail_msg("the message is\n%s, without\n%s", d->message, message);
}

static void check_again(const json_t *want, const struct seen *s, const struct rollout_decision *d)
{
    const json_t *again = json_object_get(want, "again");
    int64_t wanted = json_is_string(again) ? s->in.now_s + span(json_string_value(again)) : 0;
    if (again && wanted != d->again_s)
        fail_msg("it looks again in %lld s, not in %lld s",
                 (long long) (d->again_s ? d->again_s - s->in.now_s : 0),
                 (long long) (wanted ? wanted - s->in.now_s : 0));
}

/* Whatever is said of a time, people and programs read the same. */
static void check_until(const json_t *want, const struct rollout_decision *d, struct arena *a)
{
    const json_t *until = json_object_get(want, "until");
    const char *text = d->until_s ? rollout_time_text(a, d->until_s) : NULL;
    if (text && !strstr(d->message, text))
        fail_msg("it ends at %s, and the message is\n%s", text, d->message);
    if (until && !str_eq(text, json_string_value(until)))
        fail_msg("it ends at %s, not at %s", str_or_empty(text),
                 str_or_empty(json_string_value(until)));
}

static void check_counts(const json_t *want, const struct rollout_decision *d)
{
    if (json_object_get(want, "plan"))
        assert_int_equal(*d->plan_hash != '\0', json_bool(want, "plan", false));
    const struct {
        const char *name;
        size_t got;
    } rows[] = { { "pending", d->pending }, { "active", d->active },   { "waiting", d->waiting },
                 { "failed", d->failed },   { "skipped", d->skipped }, { "done", d->done } };
    const json_t *counts = json_object_get(want, "nodes");
    for (size_t i = 0; counts && i < ARRAY_LEN(rows); i++)
        if ((size_t) json_int(counts, rows[i].name, 0) != rows[i].got)
            fail_msg("%zu nodes are %s, not %lld", rows[i].got, rows[i].name,
                     (long long) json_int(counts, rows[i].name, 0));
}

static const char *canary_text(struct arena *a, const struct seen *s, int64_t canary_s)
{
    return canary_s < 0    ? arena_printf(a, "soaked %llds", (long long) -canary_s)
           : canary_s == 0 ? "-"
                           : arena_printf(a, "%llds", (long long) (s->in.now_s - canary_s));
}

static const char *wave_text(struct arena *a, const struct seen *s, int64_t wave_s)
{
    return wave_s == ROLLOUT_WAVE_RUNNING ? "Running"
           : !wave_s                      ? "-"
                     : arena_printf(a, "%llds", (long long) (s->in.now_s - wave_s));
}

static void check_notes(const json_t *want, struct seen *s, const struct rollout_decision *d)
{
    CLEANUP_BUF struct buf got = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20);
    size_t i;
    json_t *brief;
    for (size_t k = 0; k < d->note_count; k++) {
        const struct rollout_note *n = &d->notes[k];
        buf_printf(&got, "%s in %s: canary %s, wave %s, failed %s\n", n->hash, pool_names[n->pool],
                   canary_text(&s->arena, s, n->canary_s), wave_text(&s->arena, s, n->wave_s),
                   n->failed ? n->failed->name : "-");
    }
    json_array_foreach (json_object_get(want, "notes"), i, brief)
        buf_printf(&wanted, "%s in %s: canary %s, wave %s, failed %s\n", json_str(brief, "hash"),
                   pool_names[pool_of(brief)], text_of(brief, "canary", "-"),
                   text_of(brief, "wave", "-"), text_of(brief, "failed", "-"));
    if (!str_eq(buf_text(&got), buf_text(&wanted)))
        fail_msg("noted is\n%snot\n%s", buf_text(&got), buf_text(&wanted));
}

static void check_case(void **state)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(*state, NULL, &e);
    if (json_array_size(documents) != 2)
        fail_msg("%s", documents ? "two documents are needed" : err_msg(&e));
    const json_t *want = json_array_get(documents, 1);
    struct seen s;
    struct rollout_decision d;
    see(&s, json_array_get(documents, 0));
    rollout_decide(&s.in, &s.arena, &d);
    check_grants(want, &d);
    check_returns(want, &d);
    check_pulls(want, &d);
    check_hold(want, &d);
    check_again(want, &s, &d);
    check_until(want, &d, &s.arena);
    check_counts(want, &d);
    check_notes(want, &s, &d);
    assert_int_equal(d.pending + d.active + d.waiting + d.failed + d.skipped + d.done,
                     s.in.node_count);
    policy_clear(&s.policy);
    arena_free(&s.arena);
}

int main(void)
{
    return cases_run("rollout cases", "tests/cases/rollout", check_case);
}
