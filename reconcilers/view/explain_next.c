/* What happens next on a node, and when: what its GpuNode says (`status.next`), and who holds it.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/view/advice.h"
#include "reconcilers/view/explain.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/names.h"

/* A report comes at most this much later than the step of which it tells. */
#define REPORT_LAG_US INT64_C(90000000)

struct next_steps {
    const json_t *node, *report, *policy;
    json_t *next;
    int64_t now_us;
    struct claim claim;
    bool claimed;
};

/* `at`: NULL: at an unknown time. */
static void explain_next_describe(struct next_steps *l, const char *at, json_t *text_steal)
{
    json_t *item = json_pack("{s:o}", "text", text_steal);
    if (at)
        json_object_set_new(item, "at", json_text(at));
    json_array_append_new(l->next, item);
}

static void describe_text(struct next_steps *l, const char *text)
{
    explain_next_describe(l, NULL, json_text(text));
}

/* ---- its turn in the rollout */

/* The node's wave in the plan, if the policy's status names it; otherwise 0. */
static size_t wave_of(const json_t *waves, const char *node, const json_t **ret)
{
    JSON_EACH_AT (i, wave, waves)
        if (json_has_text(json_object_get(wave, "names"), node)) {
            *ret = wave;
            return i + 1;
        }
    return 0;
}

/* A time of the plan; NULL if there is none, or it has passed because the plan takes longer. */
static const char *time_to_come(const struct next_steps *l, const json_t *wave, const char *member)
{
    const char *time = json_str(wave, member);
    return time && term_seconds_since(time, l->now_us) <= 0 ? time : NULL;
}

/* A wave that a user has to release first has no time. */
static void describe_wave(struct next_steps *l, enum reason reason)
{
    const json_t *wave = NULL;
    size_t at = wave_of(json_at(l->policy, "status.rollout.plan.waves"), object_name(l->node),
                        &wave);
    if (!at)
        return;
    bool user = reason == REASON_PAUSED || reason == REASON_WAITING_FOR_APPROVAL;
    const char *begins = user ? NULL : time_to_come(l, wave, "begins");
    const char *earliest = time_to_come(l, wave, "notBefore");
    explain_next_describe(l, NULL,
                          json_textf("it is in wave %zu of the plan%s%s", at,
                                     begins     ? ", which begins "
                                     : earliest ? ", not before "
                                                : "",
                                     str_or_empty(begins ? begins : earliest)));
}

/* What the rollout waits for, after what is said of the node. `word`: the node's own reason; NULL:
 * not known. */
static void describe_rollout(struct next_steps *l, const char *at, const char *word,
                             const char *said)
{
    const json_t *rollout = json_at(l->policy, "status.rollout");
    const char *of_all = json_str_or_empty(rollout, "reason");
    enum reason reason = reason_parse(word ? word : of_all);
    bool same = str_eq(word, of_all);
    describe_wave(l, reason);
    explain_next_describe(l, at,
                          json_textf("%s; %s%s%s%s", said,
                                     same ? "" : "the rollout: ", same ? "" : of_all,
                                     same ? "" : ", ", json_str_or_empty(rollout, "message")));
    CLEANUP_FREE char *todo = advice_of_rollout(reason, json_str(rollout, "plan.hash"));
    if (todo)
        explain_next_describe(l, NULL, json_textf("to do: %s", todo));
}

/* ---- what the GpuNode says */

/* A wait that all nodes share has its time in the policy's status. */
static const char *time_of(const struct next_steps *l, const json_t *next)
{
    const json_t *rollout = json_at(l->policy, "status.rollout");
    const char *own = json_str(next, "until");
    bool same = str_eq(json_str(next, "reason"), json_str(rollout, "reason"));
    return own ? own : same ? json_str(rollout, "until") : NULL;
}

static void describe_next(struct next_steps *l, const json_t *next)
{
    const char *word = json_str_or_empty(next, "reason"), *message = json_str(next, "message");
    bool skipped = !message && reason_parse(word) == REASON_NODES_SKIPPED;
    if (skipped)
        message = "nothing, as long as a user excludes it from upgrades";
    CLEANUP_FREE char *said = xasprintf("%s: %s", word,
                                        message ? message : "it waits for its turn");
    if (message)
        explain_next_describe(l, time_of(l, next), json_text(said));
    else
        describe_rollout(l, time_of(l, next), word, said);
}

/* A node of which nothing is said is at rest, or its report comes from an older Ostler. */
static void describe_silence(struct next_steps *l)
{
    static const struct {
        const char *state, *text;
    } rest[] = {
        { "Ready", "nothing: it runs what the policy says" },
        { "ForeignStack", "nothing, as long as another GPU stack serves it" },
        { "Unmanaged", "nothing: Ostler does not manage it" },
    };
    const json_t *status = json_object_get(l->report, "status");
    const char *state = snapshot_node_state(l->report);
    bool ready = str_eq(state, "Ready"), outdated = seen_is_outdated(status);
    bool falls_back = gpu_node_falls_back(status);
    if (ready && !outdated && snapshot_report_is_stale(l->report, l->policy)) {
        describe_rollout(l, NULL, NULL,
                         "its report is older than the policy: it may wait for its turn");
        return;
    }
    for (size_t i = 0; !outdated && !falls_back && i < ARRAY_LEN(rest); i++)
        if (str_eq(rest[i].state, state)) {
            describe_text(l, rest[i].text);
            return;
        }
    const char *unsaid =
        "its GpuNode does not report it: Ostler has not decided yet, or Ostler or its "
        "CustomResourceDefinition is older than this program (kubectl gpu version)";
    if (ready && outdated)
        describe_rollout(l, NULL, NULL, unsaid);
    else
        describe_text(l, unsaid);
}

/* ---- what its upgrade lock says */

/* Whether a node in this state takes the steps of a claim as they come. */
static bool is_step(const char *state)
{
    static const char *const steps[] = { "Ready",      "Waiting",   "Draining", "Unloading",
                                         "Resetting",  "Rebooting", "Failed",   "Installing",
                                         "Validating", NULL };
    return str_is_any_of(state, steps);
}

/* Whether the node's claim has gone on since its report was written: the report is of a step that
 * is over. A state must last before it is reported. */
static bool claim_is_newer(const struct next_steps *l)
{
    const json_t *status = json_object_get(l->report, "status");
    const char *state = snapshot_node_state(l->report), *until = json_str(status, "next.until");
    int64_t since_us = clock_parse_rfc3339(json_str_or_empty(status, "since")),
            until_us = until ? clock_parse_rfc3339(until) : -1,
            claim_us = l->claim.since_s * 1000000;
    bool another = !str_eq(claim_phase_name(l->claim.phase), state);
    if (!l->claimed || !is_step(state) || l->now_us - claim_us > REPORT_LAG_US)
        return false;
    if (!claim_closes(&l->claim)) /* a drain that failed: the node is in service */
        return false;
    return another ? claim_us >= since_us : until_us >= 0 && claim_us >= until_us;
}

static void describe_claim(struct next_steps *l)
{
    const struct claim_kind_row *kind = &claim_kinds[l->claim.kind];
    char since[CLOCK_TEXT_MAX];
    clock_rfc3339(l->claim.since_s * 1000000, since);
    explain_next_describe(l, NULL,
                          json_textf("%s%s, since %s; its GpuNode reports that within seconds",
                                     kind->restores ? "Ostler rolls it back: " : "",
                                     claim_phase_name(l->claim.phase), since));
}

/* ---- people */

/* How a hold or cordon affects the node; it never stops an upgrade that goes on. */
static const char *what_people_keep(const struct next_steps *l)
{
    enum held_way way = l->claimed ? snapshot_held_way(l->node, &l->claim) : HELD_IN_SERVICE;
    if (way == HELD_BACK)
        return "so it returns to service, and is not upgraded";
    if (way != HELD_GOES_ON)
        return "and not upgraded";
    if (claim_kinds[l->claim.kind].repairs)
        return "but this repair continues, and no later one starts";
    return claim_kinds[l->claim.kind].restores
               ? "but this rollback continues, and no upgrade starts"
               : "but this upgrade continues, and no later one starts";
}

static void describe_users(struct next_steps *l)
{
    const char *kept = what_people_keep(l);
    CLEANUP_FREE char *holder = snapshot_setter(l->node, "f:metadata f:labels f:" LABEL_HOLD);
    CLEANUP_FREE char *cordoner = snapshot_setter(l->node, "f:spec f:unschedulable");
    if (snapshot_node_is_held(l->node))
        explain_next_describe(l, NULL,
                              json_textf("it is held%s%s, %s: kubectl gpu release %s",
                                         holder ? " by " : "", str_or_empty(holder), kept,
                                         object_name(l->node)));
    if (json_bool(l->node, "spec.unschedulable", false))
        explain_next_describe(l, NULL,
                              json_textf("it is cordoned%s%s, %s: kubectl uncordon %s",
                                         cordoner ? " by " : "", str_or_empty(cordoner), kept,
                                         object_name(l->node)));
    if (object_annotation(l->node, ANNOTATION_GAVE_UP))
        explain_next_describe(
            l, NULL,
            json_textf("a user cancelled its upgrade: kubectl annotate node %s " ANNOTATION_GAVE_UP
                       "-",
                       object_name(l->node)));
    if (str_eq(object_label(l->node, LABEL_MANAGED), "false"))
        explain_next_describe(
            l, NULL,
            json_textf("a user excluded it from Ostler: kubectl label node %s " LABEL_MANAGED "-",
                       object_name(l->node)));
}

json_t *explain_next(const json_t *snapshot, const json_t *ostler, int64_t now_us)
{
    struct next_steps l = { .node = json_object_get(snapshot, "nodes"),
                            .report = json_object_get(snapshot, "reports"),
                            .policy = json_object_get(snapshot, "policy"),
                            .next = json_array(),
                            .now_us = now_us };
    const char *claim = object_annotation(l.node, ANNOTATION_CLAIM);
    const json_t *next = json_at(l.report, "status.next");
    l.claimed = claim && claim_parse(claim, &l.claim, NULL);
    if (!str_eq(json_str(ostler, "state"), "Alive") &&
        !str_eq(json_str(ostler, "state"), "Unknown"))
        explain_next_describe(&l, NULL,
                              json_textf("nothing, until Ostler runs again: %s",
                                         json_str_or_empty(ostler, "message")));
    if (!l.policy)
        describe_text(&l, "nothing: there is no GpuClusterPolicy");
    if (claim_is_newer(&l))
        describe_claim(&l);
    else if (next)
        describe_next(&l, next);
    else if (l.policy)
        describe_silence(&l);
    describe_users(&l);
    explain_health(snapshot, l.next);
    return l.next;
}
