/* What happens next on a node, and when. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/reason.h"
#include "kubectl/view/advice.h"
#include "kubectl/view/explain.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/policy_spec.h"
#include "reconcilers/model/rollout_spec.h"
#include "reconcilers/decide/rollout_types.h"

enum { US = 1000000 };

struct next_steps {
    const json_t *node, *report, *policy;
    json_t *next;
    int64_t now_s;
    const char *state;
    struct rollout_spec spec;
    struct claim claim;
    bool claimed;
};

static void explain_next_say(struct next_steps *l, int64_t at_s, json_t *text_steal)
{
    json_t *item = json_pack("{s:o}", "text", text_steal);
    if (at_s > 0) {
        char time[CLOCK_TEXT_MAX];
        clock_rfc3339(at_s * US, time);
        json_object_set_new(item, "at", json_text(time));
    }
    json_array_append_new(l->next, item);
}

static void say_text(struct next_steps *l, int64_t at_s, const char *text)
{
    explain_next_say(l, at_s, json_text(text));
}

/* ---- blocking conditions, as in reconcilers/decide/rollout.c */

static bool is_called_off(const struct next_steps *l)
{
    return snapshot_node_is_held(l->node) || json_bool(l->node, "spec.unschedulable", false);
}

/* A node whose upgrade was cancelled is left alone after it returned to its old revision. */
static bool explain_next_is_kept(const struct next_steps *l)
{
    return is_called_off(l) || (!l->claimed && object_annotation(l->node, ANNOTATION_GAVE_UP));
}

static bool explain_next_is_down(const struct next_steps *l)
{
    const json_t *ready = condition_find(json_at(l->node, "status.conditions"), "Ready");
    return ready && !str_eq(json_str(ready, "status"), "True");
}

/* What must happen, at an unknown time, before a due node may begin; NULL: nothing. Moves
 * `due_s` to the opening of the next window. */
static const char *closed_until(const struct next_steps *l, int64_t *due_s)
{
    const char *plan = json_str(l->policy, "status.rollout.plan.hash");
    int64_t at_s = *due_s > l->now_s ? *due_s : l->now_s, change_s;
    if (l->spec.paused)
        return "the rollout is resumed";
    if (l->spec.manual && (!plan || !str_eq(plan, object_annotation(l->policy, POLICY_APPROVED))))
        return "its plan is approved";
    if (windows_open(l->spec.windows, l->spec.window_count, at_s, &change_s))
        return NULL;
    *due_s = change_s;
    return change_s == INT64_MAX ? "a window opens" : NULL;
}

/* ---- claimed nodes, by phase */

static void say_back(struct next_steps *l)
{
    say_text(l, 0, "it returns to service, because a user excludes it from upgrades");
}

static void after_waiting(struct next_steps *l)
{
    int64_t due_s = 0, jobs_s = l->claim.claimed_s + l->spec.drain.wait_for_jobs_s;
    const char *until = closed_until(l, &due_s);
    if (is_called_off(l) && claim_is_as_it_was(&l->claim, assignment_of_node(l->node))) {
        say_back(l);
    } else if (explain_next_is_kept(l)) {
        say_text(l, 0,
                 "it stays tainted, and its upgrade does not begin, as long as a user excludes it "
                 "from upgrades");
    } else if (until) {
        explain_next_say(l, 0,
                         json_textf("it stays tainted, and its jobs run on: Ostler evicts its GPU "
                                    "pods after %s; kubectl gpu hold %s "
                                    "returns it to service",
                                    until, object_name(l->node)));
    } else {
        say_text(l, due_s,
                 "when these pods have ended and a place is free, Ostler evicts its GPU pods "
                 "(Draining)");
        if (l->spec.drain.wait_for_jobs_s >= 0)
            say_text(l, jobs_s > due_s ? jobs_s : due_s,
                     "Ostler evicts its jobs (drain.waitForJobs)");
    }
}

static void after_draining(struct next_steps *l)
{
    bool driver = claim_drains(&l->claim);
    if (is_called_off(l) && claim_is_as_it_was(&l->claim, assignment_of_node(l->node))) {
        say_back(l);
        return;
    }
    say_text(l, 0,
             driver ? "when no GPU pod is left, Ostler removes toolkit and device plugin, then the "
                      "driver (Unloading)"
                    : "Ostler removes toolkit and device plugin (Unloading)");
    say_text(l, l->claim.since_s + l->spec.drain.timeout_s,
             l->spec.drain.on_timeout == DRAIN_DELETE
                 ? "Ostler deletes pods that are left, past their PodDisruptionBudgets "
                   "(drain.onTimeout Delete)"
                 : "it returns to service unchanged, and is tried again later (drain.onTimeout "
                   "Release)");
}

static void say_failure(struct next_steps *l, int64_t at_s, const char *of)
{
    explain_next_say(l, at_s,
                     json_textf("soon after, it fails (%s); %s", of,
                                l->spec.on_failure == ROLLOUT_ROLLBACK
                                    ? "as many failed nodes as failureThreshold allows, and Ostler "
                                      "rolls nodes back (onFailure "
                                      "Rollback)"
                                    : "as many failed nodes as failureThreshold allows, and no "
                                      "other node begins (onFailure Pause)"));
}

static void after_unloading(struct next_steps *l)
{
    say_text(l, 0,
             "when these pods are gone, Ostler installs the new driver, then toolkit and device "
             "plugin (Installing)");
    say_failure(l, l->claim.since_s + l->spec.install_timeout_s, "timeouts.install");
}

static void after_installing(struct next_steps *l)
{
    say_text(l, 0,
             "when every operand is up, a CUDA program has to run on a GPU of it (Validating)");
    say_failure(l, l->claim.since_s + l->spec.install_timeout_s, "timeouts.install");
}

static void after_validating(struct next_steps *l)
{
    say_text(l, 0, "when that has worked, Ostler removes claim and taint: it is back in service");
    say_failure(l, l->claim.since_s + l->spec.validation_timeout_s, "timeouts.validation");
}

/* A rollback does not wait for the rollout; only an admin's hold or cordon stops it. */
static void after_failed(struct next_steps *l)
{
    int64_t due_s = l->claim.since_s + rollout_backoff_s(l->claim.attempt);
    const char *until = closed_until(l, &due_s);
    bool closed = claim_closes(&l->claim), counts = claim_kinds[l->claim.kind].counts;
    bool back = closed && counts && l->spec.on_failure == ROLLOUT_ROLLBACK;
    if (explain_next_is_kept(l))
        say_text(l, 0,
                 closed ? "it is neither tried again nor rolled back, as long as a user excludes "
                          "it from upgrades"
                        : "it is not tried again, as long as a user excludes it from upgrades");
    else if (until)
        explain_next_say(
            l, 0,
            json_textf("it is not tried again until %s%s", until,
                       back ? "; if its revision fails, Ostler rolls it back all the same" : ""));
    else
        explain_next_say(l, due_s,
                         json_textf("it is tried again%s%s",
                                    counts ? ", unless its revision has failed" : "",
                                    back ? ": then Ostler rolls it back" : ""));
    if (closed)
        say_text(l, 0, "if its operands come up after all, it returns to service at once");
}

typedef void after_fn(struct next_steps *l);
static after_fn *const after[CLAIM_PHASE_COUNT] = {
    [CLAIM_WAITING] = after_waiting,       [CLAIM_DRAINING] = after_draining,
    [CLAIM_UNLOADING] = after_unloading,   [CLAIM_INSTALLING] = after_installing,
    [CLAIM_VALIDATING] = after_validating, [CLAIM_FAILED] = after_failed,
};

/* No timeout of a claim runs while the node is down. */
static void say_claimed(struct next_steps *l)
{
    if (explain_next_is_down(l))
        say_text(l, 0, "nothing, until its kubelet is Ready again");
    else
        after[l->claim.phase](l);
}

/* ---- nodes in service */

/* The node's wave in the plan, if the policy's status names it; otherwise 0. */
static size_t wave_of(const json_t *waves, const char *node, const json_t **ret)
{
    size_t i;
    json_t *wave;
    json_array_foreach (waves, i, wave)
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
    return time && term_seconds_since(time, l->now_s * US) <= 0 ? time : NULL;
}

static void say_turn(struct next_steps *l)
{
    const json_t *rollout = json_at(l->policy, "status.rollout"), *wave = NULL;
    const char *reason = json_str_or_empty(rollout, "reason");
    size_t at = wave_of(json_at(rollout, "plan.waves"), object_name(l->node), &wave);
    if (at) {
        int64_t due_s = 0;
        const char *begins = closed_until(l, &due_s) ? NULL : time_to_come(l, wave, "begins");
        const char *earliest = time_to_come(l, wave, "notBefore");
        explain_next_say(l, 0,
                         json_textf("it is in wave %zu of the plan%s%s", at,
                                    begins     ? ", which begins "
                                    : earliest ? ", not before "
                                               : "",
                                    str_or_empty(begins ? begins : earliest)));
    }
    bool sure = at || seen_is_outdated(json_object_get(l->report, "status"));
    explain_next_say(
        l, 0,
        json_textf("%s; the rollout: %s, %s",
                   sure ? "it waits for its turn"
                        : "its report is older than the policy: it may have to wait for its turn",
                   reason, json_str_or_empty(rollout, "message")));
    CLEANUP_FREE char *todo = advice_of_rollout(reason_parse(reason),
                                                json_str(rollout, "plan.hash"));
    if (todo)
        explain_next_say(l, 0, json_textf("to do: %s", todo));
}

static void say_in_service(struct next_steps *l)
{
    static const struct {
        const char *state, *text;
    } rows[] = {
        { "Lost", "when the node is Ready again, work on it goes on" },
        { "Discovered", "Ostler installs driver, toolkit and device plugin" },
        { "Installing",
          "when every operand is up, a CUDA program has to run on a GPU of it; then it is Ready" },
        { "Validating", "when a CUDA program has run on a GPU of it, it is Ready" },
        { "Removing", "when what it waits for is gone, Ostler removes driver, labels and taints" },
        { "ForeignStack", "nothing: another GPU stack serves it; kubectl label node NAME "
                          "ostler.dev/managed=true hands it over" },
        { "Unmanaged", "nothing: Ostler leaves it alone" },
        { "Unsupported", "nothing, until the problem in the message is solved" },
        { "Failed", "it is tried on; when the operand comes up, the node is Ready" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].state, l->state)) {
            say_text(l, 0, rows[i].text);
            return;
        }
    if (explain_next_is_kept(l))
        say_text(l, 0, "nothing, as long as a user excludes it from upgrades");
    else if (seen_is_outdated(json_object_get(l->report, "status")) ||
             snapshot_report_is_stale(l->report, l->policy))
        say_turn(l);
    else if (reason_parse(json_str(l->report, "status.reason")) == REASON_ROLLED_BACK)
        say_text(l, 0,
                 "nothing by itself: a version that the policy asks for failed, and the node runs "
                 "what it ran before; "
                 "correct the policy, or have the version tried again with the command above");
    else if (str_eq(l->state, "Ready"))
        say_text(l, 0, "nothing: it runs what the policy says");
}

/* How a hold or cordon affects the node; it never stops an upgrade that goes on. */
static const char *what_people_keep(const struct next_steps *l)
{
    if (!l->claimed || snapshot_held_way(l->node, &l->claim) != HELD_GOES_ON)
        return "and not upgraded";
    return claim_kinds[l->claim.kind].restores
               ? "but this rollback goes on, and no upgrade begins"
               : "but this upgrade goes on, and no later one begins";
}

static void say_people(struct next_steps *l)
{
    const char *kept = what_people_keep(l);
    CLEANUP_FREE char *holder = snapshot_setter(l->node, "f:metadata f:labels f:" LABEL_HOLD);
    CLEANUP_FREE char *cordoner = snapshot_setter(l->node, "f:spec f:unschedulable");
    if (snapshot_node_is_held(l->node))
        explain_next_say(l, 0,
                         json_textf("it is held%s%s, %s: kubectl gpu release %s",
                                    holder ? " by " : "", str_or_empty(holder), kept,
                                    object_name(l->node)));
    if (json_bool(l->node, "spec.unschedulable", false))
        explain_next_say(l, 0,
                         json_textf("it is cordoned%s%s, %s: kubectl uncordon %s",
                                    cordoner ? " by " : "", str_or_empty(cordoner), kept,
                                    object_name(l->node)));
    if (object_annotation(l->node, ANNOTATION_GAVE_UP))
        explain_next_say(
            l, 0,
            json_textf("a user cancelled its upgrade: kubectl annotate node %s " ANNOTATION_GAVE_UP
                       "-",
                       object_name(l->node)));
    if (str_eq(object_label(l->node, LABEL_MANAGED), "false"))
        explain_next_say(
            l, 0,
            json_textf("a user excluded it from Ostler: kubectl label node %s " LABEL_MANAGED "-",
                       object_name(l->node)));
}

json_t *explain_next(const json_t *snapshot, const json_t *ostler, int64_t now_us)
{
    struct next_steps l = { .node = json_object_get(snapshot, "nodes"),
                            .report = json_object_get(snapshot, "reports"),
                            .policy = json_object_get(snapshot, "policy"),
                            .next = json_array(),
                            .now_s = now_us / US };
    struct policy_problems problems = { 0 };
    CLEANUP_JSON json_t *spec = policy_spec_read(json_object_get(l.policy, "spec"), &problems);
    CLEANUP_JSON json_t *defaults = policy_spec_read(NULL, &(struct policy_problems){ 0 });
    const char *claim = object_annotation(l.node, ANNOTATION_CLAIM);
    char why[CLAIM_WHY_MAX];
    l.state = snapshot_node_state(l.report);
    l.claimed = claim && claim_parse(claim, &l.claim, why);
    rollout_spec_decode(problems.len ? defaults : spec, &l.spec);
    policy_problems_clear(&problems);
    if (!str_eq(json_str(ostler, "state"), "Alive") &&
        !str_eq(json_str(ostler, "state"), "Unknown"))
        explain_next_say(&l, 0,
                         json_textf("nothing, until Ostler runs again: %s",
                                    json_str_or_empty(ostler, "message")));
    if (!l.policy)
        say_text(&l, 0, "nothing: there is no GpuClusterPolicy");
    if (l.claimed)
        say_claimed(&l);
    else if (claim)
        explain_next_say(
            &l, 0,
            json_textf("nothing changes on the node, because its annotation " ANNOTATION_CLAIM
                       " is not understood: %s. "
                       "To give up its upgrade: kubectl annotate node %s " ANNOTATION_CLAIM "-",
                       why, object_name(l.node)));
    else if (l.policy)
        say_in_service(&l);
    say_people(&l);
    return l.next;
}
