/* The conditions of the policy: chains of checks, the first that has something to say decides. */
#include "reconcilers/plan/status.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/plan/detecting.h"
#include "reconcilers/plan/retry.h"

/* What the checks look at. */
struct checks {
    const struct cluster_view *v;
    const struct tally *t;
    const struct err *failure;
    struct arena *a;
    size_t served, ready; /* a node on its way to another revision counts as ready: that is no trouble */
};

/* Sets reason and message and returns true, or leaves all to the next check. */
typedef bool check_fn(const struct checks *in, struct condition *ret);

static bool say(struct condition *ret, const char *status, const char *reason, const char *message)
{
    ret->status = status;
    ret->reason = reason;
    ret->message = message;
    return true;
}

/* "1 node", "3 nodes". */
static const char *nodes(const struct checks *in, size_t n)
{
    return arena_printf(in->a, "%zu node%s", n, n == 1 ? "" : "s");
}

/* The cause with the most nodes; NULL when nothing is wrong. Causes that keep no node from being ready do not count here. */
static const struct cause *main_cause(const struct tally *t)
{
    const struct cause *best = NULL;
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&t->causes, &cursor))) {
        const struct cause *c = e->value;
        if (node_state_served(c->first->state) && !c->first->moving && (!best || cause_comes_first(c, best)))
            best = c;
    }
    return best;
}

/* "; its last words: …" of what failed on a node; "" where nobody knows them. */
static const char *words_text(const struct checks *in, const struct node_summary *s)
{
    const char *words = in->v->last_words ? in->v->last_words(in->v->arg, s->name, in->a) : NULL;
    bool said = words && s->message && strstr(s->message, words);
    return words && !said ? arena_printf(in->a, "; its last words: %s", words) : "";
}

/* ", pod …" where the message has not named it. */
static const char *pod_text(const struct checks *in, const struct node_summary *s)
{
    bool said = !s->pod || (s->message && strstr(s->message, s->pod));
    return said ? "" : arena_printf(in->a, ", pod %s", s->pod);
}

/* "driver: 3 of 10 nodes not ready: ImagePullBackOff: … (node gpu-1, pod …)" */
static const char *cause_text(const struct checks *in, const struct cause *c)
{
    const struct node_summary *s = cause_example(c);
    const char *what = component_name(c->component);
    return arena_printf(in->a, "%s%s%zu of %s not ready: %s (node %s%s)%s", what, *what ? ": " : "", c->nodes,
                        nodes(in, in->served), s->message ? s->message : c->reason, s->name, pod_text(in, s),
                        s->state == NODE_FAILED ? words_text(in, s) : "");
}

static bool check_removing(const struct checks *in, struct condition *ret)
{
    if (in->v->stance != STANCE_REMOVE)
        return false;
    const struct tally *t = in->t;
    const char *message = arena_printf(in->a, "the policy is being removed: %s still to be cleaned",
                                       nodes(in, t->states[NODE_REMOVING]));
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&t->causes, &cursor))) {
        const struct cause *c = e->value;
        if (str_eq(c->reason, "WaitingForGpuPods"))
            message = arena_printf(in->a, "%s; waiting on %zu: %s. To skip the wait: kubectl annotate gpuclusterpolicy "
                                          POLICY_NAME " " POLICY_FORCE_REMOVAL "=true",
                                   message, c->nodes, cause_example(c)->message);
    }
    return say(ret, "False", "Removing", message);
}

static bool check_invalid(const struct checks *in, struct condition *ret)
{
    if (!in->v->problems)
        return false;
    return say(ret, "False", "InvalidSpec",
               arena_printf(in->a, "what runs goes on as it is, but the spec is not acted on: %s", in->v->problems));
}

/* What is wrong with a part of what Ostler stands on. */
static bool say_of(const struct checks *in, enum surroundings_part part, struct condition *ret)
{
    const struct surroundings_problem *p = in->v->surroundings ? surroundings_of(in->v->surroundings, part) : NULL;
    return p && say(ret, "True", p->reason, p->message);
}

static bool stalled_namespace(const struct checks *in, struct condition *ret)
{
    return say_of(in, SURROUNDINGS_NAMESPACE, ret);
}

static bool check_failure(const struct checks *in, struct condition *ret)
{
    return in->failure && say(ret, "False", "ReconcileFailed", err_msg(in->failure));
}

/* Whether the same write would be refused again until a person does something about it. */
static bool is_lasting(const struct err *failure)
{
    static const enum err_kind lasting[] = { ERR_INVALID, ERR_NOT_FOUND, ERR_FORBIDDEN, ERR_UNAUTHORIZED, ERR_TOO_LARGE };
    for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
        if (failure && failure->kind == lasting[i])
            return true;
    return false;
}

static bool check_unsettled(const struct checks *in, struct condition *ret)
{
    return !in->v->settled && say(ret, "Unknown", "Reading", "the nodes are being looked at");
}

static bool check_cause(const struct checks *in, struct condition *ret)
{
    const struct cause *c = main_cause(in->t);
    if (in->ready == in->served)
        return false;
    return say(ret, "False", c ? c->reason : "Installing",
               c ? cause_text(in, c) : arena_printf(in->a, "%zu of %s ready", in->ready, nodes(in, in->served)));
}

/* Nodes that a person, or the selector, takes out of Ostler's hands while the policy lives. */
static const char *letting_go(const struct checks *in)
{
    size_t n = in->t->states[NODE_REMOVING], cursor = 0;
    if (!n)
        return "";
    const struct map_entry *e;
    while ((e = map_next(&in->t->causes, &cursor))) {
        const struct cause *c = e->value;
        if (str_eq(c->reason, "WaitingForGpuPods"))
            return arena_printf(in->a, "; being let go: %s (%s)", nodes(in, n), cause_example(c)->message);
    }
    return arena_printf(in->a, "; being let go: %s", nodes(in, n));
}

static const char *detecting_text(const struct checks *in)
{
    bool up = detecting_agents(in->v)->silent == 0;
    return arena_printf(in->a, "it is not known yet whether %s ha%s a GPU: %s", nodes(in, in->t->total),
                        in->t->total == 1 ? "s" : "ve", up ? "the agents are looking" : "not all of their agents are up");
}

static bool check_detecting(const struct checks *in, struct condition *ret)
{
    return detecting_wait_s(in->v) && say(ret, "False", "Detecting", detecting_text(in));
}

/* Nodes of which nobody knows since no agent speaks there. */
static const char *silent(const struct checks *in)
{
    const struct child *agents = detecting_agents(in->v);
    if (!agents || agents->silent <= 0)
        return "";
    return arena_printf(in->a, "; without an agent that is up: %s", nodes(in, (size_t) agents->silent));
}

static bool check_no_nodes(const struct checks *in, struct condition *ret)
{
    const struct tally *t = in->t;
    if (in->served)
        return false;
    if (t->states[NODE_FOREIGN])
        return say(ret, "True", "ForeignStack",
                   arena_printf(in->a, "no node to serve; served by somebody else: %s%s%s", nodes(in, t->states[NODE_FOREIGN]),
                                silent(in), letting_go(in)));
    return say(ret, "True", "NoGpuNodes",
               arena_printf(in->a, "there is no GPU node to serve among %s%s%s", nodes(in, t->total), silent(in),
                            letting_go(in)));
}

static bool check_ready(const struct checks *in, struct condition *ret)
{
    const struct tally *t = in->t;
    const char *others = "";
    if (t->moving)
        others = arena_printf(in->a, "; on their way to another revision: %s", nodes(in, t->moving));
    if (t->states[NODE_LOST])
        others = arena_printf(in->a, "%s; down: %s", others, nodes(in, t->states[NODE_LOST]));
    if (t->states[NODE_FOREIGN])
        others = arena_printf(in->a, "%s; served by somebody else: %s", others, nodes(in, t->states[NODE_FOREIGN]));
    return say(ret, "True", "AllNodesReady",
               arena_printf(in->a, "every GPU node has what it should have: %s%s%s%s", nodes(in, in->served), others, silent(in),
                            letting_go(in)));
}

static check_fn *const ready_checks[] = { check_removing, check_invalid, check_failure, check_unsettled, check_cause,
                                          check_detecting, check_no_nodes, check_ready };

static bool reconciling_removal(const struct checks *in, struct condition *ret)
{
    struct condition ready = { 0 };
    return check_removing(in, &ready) && say(ret, "True", "Removing", ready.message);
}

static bool reconciling_letting_go(const struct checks *in, struct condition *ret)
{
    const char *what = letting_go(in);
    return *what && say(ret, "True", "Removing", what + strlen("; "));
}

static bool reconciling_failure(const struct checks *in, struct condition *ret)
{
    return in->failure && !is_lasting(in->failure) && !in->v->problems &&
           say(ret, "True", "ReconcileFailed", err_msg(in->failure));
}

static bool reconciling_nodes(const struct checks *in, struct condition *ret)
{
    if (in->v->problems || is_lasting(in->failure) || (in->v->settled && in->ready == in->served))
        return false;
    return say(ret, "True", "Installing", arena_printf(in->a, "%zu of %s ready", in->ready, nodes(in, in->served)));
}

static bool reconciling_detecting(const struct checks *in, struct condition *ret)
{
    return !is_lasting(in->failure) && detecting_wait_s(in->v) && say(ret, "True", "Detecting", detecting_text(in));
}

static bool reconciling_nothing(const struct checks *in, struct condition *ret)
{
    (void) in;
    return say(ret, "False", "Done", "nothing is under way");
}

static check_fn *const reconciling_checks[] = { reconciling_removal, reconciling_failure, reconciling_nodes,
                                                reconciling_letting_go, reconciling_detecting, reconciling_nothing };

static bool stalled_invalid(const struct checks *in, struct condition *ret)
{
    return in->v->problems && say(ret, "True", "InvalidSpec", arena_printf(in->a, "correct the spec: %s", in->v->problems));
}

static bool stalled_failure(const struct checks *in, struct condition *ret)
{
    return is_lasting(in->failure) && say(ret, "True", "ReconcileFailed", err_msg(in->failure));
}

static bool not_stalled(const struct checks *in, struct condition *ret)
{
    (void) in;
    return say(ret, "False", "NotStalled", "nobody need act");
}

static check_fn *const stalled_checks[] = { stalled_invalid, stalled_namespace, stalled_failure, not_stalled };

static bool degraded_failed(const struct checks *in, struct condition *ret)
{
    const struct cause *c = main_cause(in->t);
    size_t failed = in->t->states[NODE_FAILED] + in->t->states[NODE_UNSUPPORTED];
    return c && failed && say(ret, "True", c->reason, cause_text(in, c));
}

static bool degraded_foreign(const struct checks *in, struct condition *ret)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&in->t->causes, &cursor))) {
        const struct cause *c = e->value;
        if (c->first->state == NODE_FOREIGN)
            return say(ret, "False", "ForeignStack", cause_example(c)->message);
    }
    return false;
}

static bool degraded_no_detector(const struct checks *in, struct condition *ret)
{
    if (in->t->looked_at || !in->v->settled || in->v->stance != STANCE_MANAGE || detecting_wait_s(in->v))
        return false;
    return say(ret, "True", "NoDetector",
               "no node bears a label of anything that detects GPUs, so GPUs may be there unseen. Install Node Feature "
               "Discovery: helm install nfd node-feature-discovery --repo "
               "https://kubernetes-sigs.github.io/node-feature-discovery/charts "
               "--namespace node-feature-discovery --create-namespace; or label GPU nodes nvidia.com/gpu.present=true");
}

static bool degraded_reports(const struct checks *in, struct condition *ret)
{
    return say_of(in, SURROUNDINGS_REPORTS, ret);
}

static bool not_degraded(const struct checks *in, struct condition *ret)
{
    (void) in;
    return say(ret, "False", "NothingFails", "nothing fails");
}

static check_fn *const degraded_checks[] = { degraded_failed, degraded_reports, degraded_no_detector, degraded_foreign,
                                             not_degraded };

/* Whether the rollout has looked at the nodes, and there is something to do. */
static bool is_rolling_out(const struct cluster_view *v)
{
    return v->rollout && v->rollout->known && v->rollout->hold != ROLLOUT_HOLD_DONE;
}

static const char *moving_status(const struct cluster_view *v)
{
    return is_rolling_out(v) && (v->rollout->active || v->rollout->waiting) ? "True" : "False";
}

/* "gpu-2 does not come up: CrashLoopBackOff: …, pod …; its last words: …; " of a node on its way; "" where all do. */
static const char *trouble_text(const struct checks *in)
{
    const struct node_summary *s = tally_trouble(in->t);
    return s ? arena_printf(in->a, "%s does not come up: %s%s%s; ", s->name, s->trouble, pod_text(in, s), words_text(in, s)) : "";
}

/* "gpu-2 is not drained, an eviction is refused: pod/ml/a: Cannot evict pod …; "; "" where every pod may go. */
static const char *refused_text(const struct checks *in)
{
    const struct node_summary *s = tally_refused(in->t);
    return s ? arena_printf(in->a, "%s is not drained, an eviction is refused: %s; ", s->name, s->refused) : "";
}

/* What goes wrong on nodes that are under way. */
static const char *on_the_way(const struct checks *in)
{
    return arena_printf(in->a, "%s%s", trouble_text(in), refused_text(in));
}

/* What a person asked for and is not understood, last: it keeps nobody. */
static const char *retry_text(const struct checks *in)
{
    const char *problem = retry_problem(in->v, in->a);
    return problem ? arena_printf(in->a, "; %s", problem) : "";
}

static bool rollout_ends(const struct checks *in, struct condition *ret)
{
    return in->v->stance == STANCE_REMOVE && say(ret, "False", status_rollout_reason(in->v), "the policy is being removed");
}

static bool rollout_invalid(const struct checks *in, struct condition *ret)
{
    if (!in->v->problems)
        return false;
    const char *goes_on = is_rolling_out(in->v) ? str_or_empty(in->v->rollout->message) : "what runs stays as it is";
    return say(ret, moving_status(in->v), status_rollout_reason(in->v),
               arena_printf(in->a, "the spec is not acted on until it is corrected; by the last one that was valid: %s%s",
                            on_the_way(in), goes_on));
}

static bool rollout_goes_on(const struct checks *in, struct condition *ret)
{
    return is_rolling_out(in->v) && say(ret, moving_status(in->v), status_rollout_reason(in->v),
                                        arena_printf(in->a, "%s%s%s", on_the_way(in), str_or_empty(in->v->rollout->message),
                                                     retry_text(in)));
}

static bool all_up_to_date(const struct checks *in, struct condition *ret)
{
    return say(ret, "False", "UpToDate", arena_printf(in->a, "no node is being moved to another revision%s", retry_text(in)));
}

static check_fn *const rollout_checks[] = { rollout_ends, rollout_invalid, rollout_goes_on, all_up_to_date };

const char *status_rollout_reason(const struct cluster_view *v)
{
    if (v->stance == STANCE_REMOVE)
        return "Removing";
    if (v->problems)
        return "InvalidSpec";
    return v->rollout && v->rollout->known ? rollout_report_reason(v->rollout) : NULL;
}

static const struct {
    const char *type;
    check_fn *const *checks;
    size_t len;
} chains[STATUS_CONDITIONS] = {
    [STATUS_READY] = { "Ready", ready_checks, ARRAY_LEN(ready_checks) },
    [STATUS_RECONCILING] = { "Reconciling", reconciling_checks, ARRAY_LEN(reconciling_checks) },
    [STATUS_STALLED] = { "Stalled", stalled_checks, ARRAY_LEN(stalled_checks) },
    [STATUS_DEGRADED] = { "Degraded", degraded_checks, ARRAY_LEN(degraded_checks) },
    [STATUS_ROLLING_OUT] = { "RollingOut", rollout_checks, ARRAY_LEN(rollout_checks) },
};

void status_conditions(const struct cluster_view *v, const struct err *failure, struct arena *a,
                       struct condition ret[static STATUS_CONDITIONS])
{
    struct checks in = { .v = v, .t = v->tally, .failure = failure, .a = a, .served = tally_served(v->tally),
                         .ready = v->tally->states[NODE_READY] + v->tally->moving };
    for (size_t i = 0; i < STATUS_CONDITIONS; i++) {
        ret[i].type = chains[i].type;
        for (size_t k = 0; k < chains[i].len; k++)
            if (chains[i].checks[k](&in, &ret[i]))
                break;
    }
}
