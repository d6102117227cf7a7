#include "commands/simulation_story.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/record.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/rollout_types.h"

enum {
    SECOND_MS = 1000,
    ATTEMPTS_TOLD = 2, /* per node; more are only counted */
    WINDOWS_IN_VAIN = 2,
};

/* How it ended: the value of `summary.ended`, and its text for users. */
enum story_end {
    STORY_TIME_IS_OVER, /* --simulate-for is over */
    STORY_COMPLETE,     /* every node has the target of the policy */
    STORY_STUCK,        /* for longer than Ostler waits for anything */
};

static const struct {
    const char *word, *text;
} ends[] = {
    [STORY_TIME_IS_OVER] = { "TimeIsOver", "not over yet" },
    [STORY_COMPLETE] = { "Complete", "complete" },
    [STORY_STUCK] = { "NoProgress", "no node makes progress" },
};

/* The policy's windows, evaluated again at each change. */
struct story_windows {
    bool closed;
    int64_t opened_ms, changes_ms; /* changes_ms INT64_MAX: no change */
    int in_vain;                   /* consecutive windows without progress */
};

struct story {
    struct api *api;
    const struct sim *sim;
    const struct rollout_spec *spec;
    struct story_windows windows;
    enum story_end end;
    int64_t began_ms;
    int64_t advanced_ms; /* last progress of the rollout; a retry that fails again does not count */
    json_t *timeline;
    json_t *begun;     /* start in ms of each node in progress, by name */
    json_t *took;      /* seconds per upgraded node, by name */
    json_t *went_back; /* true for each rolled back node, by name */
    json_t *evicted;   /* keys of evicted pods */
    size_t claimed;    /* nodes with a claim now */
    size_t failures;
    char *reason;  /* why the rollout does not continue now; owned */
    char *message; /* owned */
    char *told;    /* last message in the timeline; owned */
};

static const char *const sentences[CLAIM_PHASE_COUNT] = {
    [CLAIM_WAITING] = "tainted for new GPU pods; its jobs run to their end",
    [CLAIM_DRAINING] = "Ostler evicts GPU pods",
    [CLAIM_UNLOADING] = "Ostler removes what the node runs",
    [CLAIM_RESETTING] = "a pod resets GPUs",
    [CLAIM_REBOOTING] = "a pod reboots the node",
    [CLAIM_INSTALLING] = "Ostler installs the new revisions",
    [CLAIM_VALIDATING] = "everything is up; a CUDA program must run",
    [CLAIM_FAILED] =
        "the node stays out of service until it comes up, is retried, or is rolled back",
};

/* During a rollback. */
static const char sentence_of_return_trip[] = "Ostler rolls the node back";

/* After a drain that timed out: nothing was changed. */
static const char sentence_of_return[] =
    "the node is back in service unchanged; Ostler retries it later";

static void simulation_story_add(struct story *s, const char *node, const char *step,
                                 const char *message)
{
    char at[CLOCK_TEXT_MAX];
    clock_rfc3339(clock_wall_us(&s->sim->clock), at);
    json_array_append_new(s->timeline,
                          json_pack("{s:I, s:s, s:s, s:s, s:o}", "second",
                                    (json_int_t) (s->sim->now_ms - s->began_ms) / SECOND_MS, "at",
                                    at, "node", node, "step", step, "message", json_text(message)));
}

/* ---- nodes */

static bool simulation_story_read_claim(const json_t *node, struct claim *ret)
{
    const char *text = node ? object_annotation(node, ANNOTATION_CLAIM) : NULL;
    return text && claim_parse(text, ret, NULL);
}

/* The result for a node when its claim is removed. */
enum outcome { OUTCOME_AS_IT_WAS, OUTCOME_UPGRADED, OUTCOME_WENT_BACK };

static enum outcome outcome_of(const json_t *node, const struct claim *c)
{
    if (!claim_is_for(c, assignment_of_node(node)))
        return OUTCOME_AS_IT_WAS;
    return claim_kinds[c->kind].restores ? OUTCOME_WENT_BACK : OUTCOME_UPGRADED;
}

static void note_outcome(struct story *s, const char *name, enum outcome outcome, int64_t took_s)
{
    if (outcome == OUTCOME_AS_IT_WAS)
        return;
    json_object_del(s->took, name);
    json_object_del(s->went_back, name);
    if (outcome == OUTCOME_UPGRADED)
        json_object_set_new(s->took, name, json_integer(took_s));
    else
        json_object_set_new(s->went_back, name, json_true());
}

static void note_released(struct story *s, const json_t *node, const struct claim *c)
{
    static const char *const with[] = { [OUTCOME_AS_IT_WAS] = " unchanged",
                                        [OUTCOME_UPGRADED] = "",
                                        [OUTCOME_WENT_BACK] = " with its old revisions" };
    const char *name = object_name(node);
    const json_t *began = json_object_get(s->begun, name);
    enum outcome outcome = outcome_of(node, c);
    int64_t took_s = began ? (s->sim->now_ms - json_integer_value(began)) / SECOND_MS : 0;
    CLEANUP_FREE char *after = began ? xasprintf(" after %lld s", (long long) took_s) : xstrdup("");
    CLEANUP_FREE char *message = xasprintf("back in service%s%s", with[outcome], after);
    simulation_story_add(s, name, "Released", message);
    note_outcome(s, name, outcome, took_s);
    json_object_del(s->begun, name);
    s->advanced_ms = s->sim->now_ms;
}

static const char *simulation_story_sentence_of(const struct claim *c)
{
    return c->phase == CLAIM_INSTALLING && claim_kinds[c->kind].restores ? sentence_of_return_trip
                                                                         : sentences[c->phase];
}

static void note_phase(struct story *s, const char *name, const struct claim *c)
{
    if (claim_phase_has_slot(c->phase) && !json_object_get(s->begun, name))
        json_object_set_new(s->begun, name, json_integer(s->sim->now_ms));
    s->failures += c->phase == CLAIM_FAILED;
    if (c->attempt > ATTEMPTS_TOLD)
        return;
    s->advanced_ms = s->sim->now_ms;
    CLEANUP_FREE char *failed = xasprintf(
        "%s: %s", c->reason, claim_closes(c) ? sentences[CLAIM_FAILED] : sentence_of_return);
    simulation_story_add(s, name, claim_phase_name(c->phase),
                         c->phase == CLAIM_FAILED ? failed : simulation_story_sentence_of(c));
}

static void on_node(struct story *s, const struct api_commit *c)
{
    struct claim before, after;
    bool was = simulation_story_read_claim(c->before, &before),
         is = simulation_story_read_claim(c->after, &after);
    s->claimed = s->claimed - was + is;
    if (was && !is && c->after)
        note_released(s, c->after, &before);
    else if (is && (!was || before.phase != after.phase))
        note_phase(s, object_name(c->after), &after);
}

/* ---- pods and the policy */

static void on_pod(struct story *s, const struct api_commit *c)
{
    if (c->verb != API_EVICT || !c->before)
        return;
    CLEANUP_FREE char *key = record_key(c->before);
    CLEANUP_FREE char *message = xasprintf("%s leaves", key);
    simulation_story_add(s, json_str_or_empty(c->before, "spec.nodeName"), "Evicted", message);
    json_array_append_new(s->evicted, json_string(key));
}

/* Whether an admin would ask about this reason; the others come and go with each node. */
static bool is_told(enum reason reason)
{
    static const enum rollout_hold told[] = { ROLLOUT_HOLD_WINDOW, ROLLOUT_HOLD_FAILED,
                                              ROLLOUT_HOLD_SOAK,   ROLLOUT_HOLD_JOBS,
                                              ROLLOUT_HOLD_DOWN,   ROLLOUT_HOLD_SKIPPED,
                                              ROLLOUT_HOLD_DONE };
    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        if (rollout_hold_reason(told[i]) == reason)
            return true;
    return false;
}

static void on_policy(struct story *s, const struct api_commit *c)
{
    const json_t *rollout = json_at(c->after, "status.rollout");
    const char *reason = json_str_or_empty(rollout, "reason"),
               *message = json_str_or_empty(rollout, "message");
    bool news = !str_eq(reason, s->reason) && !str_eq(message, s->told);
    xstrset(&s->reason, reason);
    xstrset(&s->message, message);
    if (!news || !is_told(reason_parse(reason)))
        return;
    simulation_story_add(s, "", reason, message);
    xstrset(&s->told, message);
}

static void simulation_story_on_commit(void *arg, const struct api_commit *c)
{
    struct story *s = arg;
    if (c->kind == kind_named("nodes"))
        on_node(s, c);
    else if (c->kind == kind_named("pods"))
        on_pod(s, c);
    else if (c->kind == kind_named("gpuclusterpolicies"))
        on_policy(s, c);
}

/* ---- whole rollout */

/* Counts nodes in progress at the start. */
static void count_claims(struct story *s)
{
    const struct kind *k = kind_named("nodes");
    struct claim claim;
    for (size_t i = 0; i < api_count(s->api, k); i++)
        s->claimed += simulation_story_read_claim(api_at(s->api, k, i), &claim);
}

struct story *story_new(struct api *api, const struct sim *sim, const struct rollout_spec *spec)
{
    struct story *s = xcalloc(1, sizeof *s);
    *s = (struct story){ .api = api,
                         .sim = sim,
                         .spec = spec,
                         .began_ms = sim->now_ms,
                         .advanced_ms = sim->now_ms,
                         .timeline = json_array(),
                         .begun = json_object(),
                         .took = json_object(),
                         .went_back = json_object(),
                         .evicted = json_array() };
    count_claims(s);
    api_on_commit(api, simulation_story_on_commit, s);
    return s;
}

static void look_at_windows(struct story *s)
{
    struct story_windows *w = &s->windows;
    int64_t change_s;
    if (s->sim->now_ms < w->changes_ms)
        return;
    bool was_closed = w->closed;
    w->closed = !windows_open(s->spec->windows, s->spec->window_count,
                              clock_wall_us(&s->sim->clock) / 1000000, &change_s);
    w->changes_ms = change_s == INT64_MAX ? INT64_MAX
                                          : change_s * SECOND_MS - s->sim->epoch_us / 1000;
    if (was_closed && !w->closed)
        w->opened_ms = s->sim->now_ms;
    if (!was_closed && w->closed)
        w->in_vain = s->advanced_ms < w->opened_ms ? w->in_vain + 1 : 0;
}

/* Whether the rollout made no progress for so long that it never will. */
static bool is_stuck(const struct story *s, int64_t quiet_ms)
{
    const struct story_windows *w = &s->windows;
    bool they_change = s->spec->window_count && w->changes_ms != INT64_MAX;
    return s->sim->now_ms - s->advanced_ms > quiet_ms &&
           (!they_change || w->in_vain >= WINDOWS_IN_VAIN);
}

bool story_is_over(struct story *s, int64_t quiet_ms)
{
    look_at_windows(s);
    if (reason_parse(s->reason) == rollout_hold_reason(ROLLOUT_HOLD_DONE) && s->claimed == 0)
        s->end = STORY_COMPLETE;
    else if (is_stuck(s, quiet_ms))
        s->end = STORY_STUCK;
    return s->end != STORY_TIME_IS_OVER;
}

const char *story_end_text(const char *ended)
{
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_eq(ends[i].word, ended))
            return ends[i].text;
    return "";
}

/* The states and messages of nodes that are not Ready at the end. */
static json_t *standing(const struct story *s)
{
    const struct kind *k = kind_named("gpunodes");
    json_t *nodes = json_array();
    for (size_t i = 0; i < api_count(s->api, k); i++) {
        const json_t *report = api_at(s->api, k, i);
        const char *state = json_str_or_empty(report, "status.state");
        if (!str_eq(state, "Ready"))
            json_array_append_new(nodes, json_pack("{s:s, s:s, s:s}", "node", object_name(report),
                                                   "state", state, "message",
                                                   json_str_or_empty(report, "status.message")));
    }
    return nodes;
}

static json_t *keys_of(const json_t *map)
{
    json_t *keys = json_array();
    JSON_EACH_MEMBER (key, value, map)
        json_array_append_new(keys, json_string(key));
    return keys;
}

static json_t *summary(const struct story *s)
{
    int64_t all_s = 0, most_s = 0;
    JSON_EACH_MEMBER (name, value, s->took) {
        all_s += json_integer_value(value);
        most_s = json_integer_value(value) > most_s ? json_integer_value(value) : most_s;
    }
    size_t n = json_object_size(s->took);
    int64_t over_ms = s->end == STORY_TIME_IS_OVER ? s->sim->now_ms : s->advanced_ms;
    json_t *o = json_pack("{s:I, s:I, s:I, s:O, s:I, s:I, s:b, s:s, s:s, s:s}", "seconds",
                          (json_int_t) (over_ms - s->began_ms) / SECOND_MS, "nodes", (json_int_t) n,
                          "failures", (json_int_t) s->failures, "evicted", s->evicted,
                          "secondsPerNode", (json_int_t) (n ? all_s / (int64_t) n : 0),
                          "secondsOfTheSlowest", (json_int_t) most_s, "complete",
                          s->end == STORY_COMPLETE, "ended", ends[s->end].word, "reason",
                          str_or_empty(s->reason), "message", str_or_empty(s->message));
    json_object_set_new(o, "wentBack", keys_of(s->went_back));
    json_object_set_new(o, "standing", standing(s));
    return o;
}

json_t *story_print(const struct story *s)
{
    return json_pack("{s:O, s:o}", "timeline", s->timeline, "summary", summary(s));
}

void story_free(struct story *s)
{
    if (!s)
        return;
    json_decref(s->timeline);
    json_decref(s->begun);
    json_decref(s->took);
    json_decref(s->went_back);
    json_decref(s->evicted);
    free(s->reason);
    free(s->message);
    free(s->told);
    free(s);
}
