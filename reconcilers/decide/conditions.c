/* The policy's conditions: chains of checks, of which the first that applies decides. headline.c
 * has Ready. */
#include "reconcilers/decide/condition_checks.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/detecting.h"
#include "reconcilers/decide/retry.h"

/* Reports the problem with a prerequisite. */
static bool say_of(const struct checks *in, enum prerequisite part, struct condition *ret)
{
    const struct prerequisite_problem *p = cond_part(in, part);
    return p && cond_say(ret, "True", p->reason, p->message);
}

static bool reconciling_removal(const struct checks *in, struct condition *ret)
{
    struct condition ready = { 0 };
    return cond_removing(in, &ready) && cond_say(ret, "True", REASON_REMOVING, ready.message);
}

static bool reconciling_letting_go(const struct checks *in, struct condition *ret)
{
    const char *what = cond_letting_go(in);
    return *what && cond_say(ret, "True", REASON_REMOVING, what + strlen("; "));
}

static bool reconciling_failure(const struct checks *in, struct condition *ret)
{
    return in->failure && !cond_failure_lasts(in) && !in->v->problems &&
           cond_say(ret, "True", REASON_RECONCILE_FAILED, cond_failure_text(in));
}

static bool reconciling_nodes(const struct checks *in, struct condition *ret)
{
    if (in->v->problems || cond_failure_lasts(in) || (in->v->settled && in->works == in->served))
        return false;
    return cond_say(ret, "True", REASON_INSTALLING,
                    arena_printf(in->a, "%zu of %s ready", in->works, cond_nodes(in, in->served)));
}

static bool reconciling_detecting(const struct checks *in, struct condition *ret)
{
    struct condition ready = { 0 };
    return !cond_failure_lasts(in) && cond_detecting(in, &ready) &&
           cond_say(ret, "True", REASON_DETECTING, ready.message);
}

static bool is_moving(const struct checks *in)
{
    const struct rollout_report *r = in->v->rollout;
    return cond_is_rolling_out(in) && (r->active || r->waiting || in->t->moving);
}

/* Nodes under a rollout belong to RollingOut: a client that waits by kstatus must not wait for a
 * rollout of days. */
static bool reconciling_nothing(const struct checks *in, struct condition *ret)
{
    return cond_say(
        ret, "False", REASON_DONE,
        is_moving(in)
            ? "nothing but the rollout is under way: the condition RollingOut says how far it is"
            : "nothing is under way");
}

static check_fn *const reconciling_checks[] = { reconciling_removal,   reconciling_failure,
                                                reconciling_nodes,     reconciling_letting_go,
                                                reconciling_detecting, reconciling_nothing };

static bool stalled_invalid(const struct checks *in, struct condition *ret)
{
    return in->v->problems &&
           cond_say(ret, "True", REASON_INVALID_SPEC,
                    arena_printf(in->a, "correct the spec: %s", in->v->problems));
}

static bool stalled_namespace(const struct checks *in, struct condition *ret)
{
    return say_of(in, PREREQUISITES_NAMESPACE, ret);
}

static bool stalled_failure(const struct checks *in, struct condition *ret)
{
    return cond_failure_lasts(in) &&
           cond_say(ret, "True", REASON_RECONCILE_FAILED, cond_failure_text(in));
}

static bool not_stalled(const struct checks *in, struct condition *ret)
{
    (void) in;
    return cond_say(ret, "False", REASON_NOT_STALLED,
                    "nothing keeps Ostler from its work; the conditions Ready and Degraded say "
                    "whether somebody has to do "
                    "something");
}

static check_fn *const stalled_checks[] = { stalled_invalid, stalled_namespace, stalled_failure,
                                            not_stalled };

static bool degraded_namespace(const struct checks *in, struct condition *ret)
{
    return say_of(in, PREREQUISITES_NAMESPACE, ret);
}

static bool degraded_write(const struct checks *in, struct condition *ret)
{
    return !in->v->problems && stalled_failure(in, ret);
}

static bool degraded_failed(const struct checks *in, struct condition *ret)
{
    const struct cause *c = cond_main_cause(in);
    size_t failed = in->t->states[NODE_FAILED] + in->t->states[NODE_UNSUPPORTED];
    return c && failed && cond_say_cause(ret, "True", c, cond_cause_text(in, c));
}

static bool degraded_metrics(const struct checks *in, struct condition *ret)
{
    const struct cause *c = cond_metrics_cause(in);
    return c && cond_say_cause(ret, "True", c, cond_metrics_text(in, c));
}

static bool degraded_foreign(const struct checks *in, struct condition *ret)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&in->t->causes, &cursor))) {
        const struct cause *c = e->value;
        if (c->first->state == NODE_FOREIGN)
            return cond_say(ret, "False", REASON_FOREIGN_STACK, cause_example(c)->message);
    }
    return false;
}

/* With the full command, which does not fit into the headline. */
static bool degraded_no_detector(const struct checks *in, struct condition *ret)
{
    struct condition short_one = { 0 };
    if (!cond_no_detector(in, &short_one))
        return false;
    return cond_say(
        ret, "True", REASON_NO_DETECTOR,
        arena_printf(
            in->a,
            "%s. To install Node Feature Discovery: helm install nfd node-feature-discovery --repo "
            "https://kubernetes-sigs.github.io/node-feature-discovery/charts "
            "--namespace node-feature-discovery --create-namespace",
            short_one.message));
}

static bool degraded_reports(const struct checks *in, struct condition *ret)
{
    return say_of(in, PREREQUISITES_REPORTS, ret);
}

static bool not_degraded(const struct checks *in, struct condition *ret)
{
    (void) in;
    return cond_say(ret, "False", REASON_NOTHING_FAILS,
                    "no node, no operand and no revision has failed");
}

static check_fn *const degraded_checks[] = {
    degraded_namespace, degraded_write,       degraded_failed,  cond_rolled_back, degraded_metrics,
    degraded_reports,   degraded_no_detector, degraded_foreign, not_degraded
};

static const char *moving_status(const struct checks *in)
{
    return is_moving(in) ? "True" : "False";
}

/* "gpu-2 does not come up: CrashLoopBackOff: …, pod …; its log ends: …; " for a node under way; "":
 * no such node. */
static const char *trouble_text(const struct checks *in)
{
    const struct node_summary *s = tally_trouble(in->t);
    return s ? arena_printf(in->a, "%s does not come up: %s%s%s; ", s->name, s->trouble,
                            cond_pod_text(in, s), cond_words_text(in, s->name, s->message))
             : "";
}

/* "gpu-2 is not drained, an eviction is refused: pod/ml/a: Cannot evict pod …; "; "": no eviction
 * is refused. */
static const char *refused_text(const struct checks *in)
{
    const struct node_summary *s = tally_refused(in->t);
    return s ? arena_printf(in->a, "%s is not drained, an eviction is refused: %s; ", s->name,
                            s->refused)
             : "";
}

/* The problems of nodes under way. */
static const char *on_the_way(const struct checks *in)
{
    return arena_printf(in->a, "%s%s", trouble_text(in), refused_text(in));
}

/* A user's invalid retry request, last, because it delays nothing. */
static const char *retry_text(const struct checks *in)
{
    const char *problem = retry_problem(in->v, in->a);
    return problem ? arena_printf(in->a, "; %s", problem) : "";
}

static bool rollout_ends(const struct checks *in, struct condition *ret)
{
    return in->v->mode == MODE_REMOVE &&
           cond_say(ret, "False", status_rollout_reason(in->v), "the policy is being removed");
}

static bool rollout_invalid(const struct checks *in, struct condition *ret)
{
    if (!in->v->problems)
        return false;
    const char *goes_on = cond_is_rolling_out(in) ? str_or_empty(in->v->rollout->message)
                                                  : "operands that run are not changed";
    return cond_say(
        ret, moving_status(in), status_rollout_reason(in->v),
        arena_printf(
            in->a,
            "the spec is not applied until it is corrected; according to the last valid spec: %s%s",
            on_the_way(in), goes_on));
}

static bool rollout_goes_on(const struct checks *in, struct condition *ret)
{
    return cond_is_rolling_out(in) &&
           cond_say(ret, moving_status(in), status_rollout_reason(in->v),
                    arena_printf(in->a, "%s%s%s", on_the_way(in),
                                 str_or_empty(in->v->rollout->message), retry_text(in)));
}

static bool all_up_to_date(const struct checks *in, struct condition *ret)
{
    return cond_say(
        ret, "False", REASON_UP_TO_DATE,
        arena_printf(in->a, "no node is being moved to another revision%s", retry_text(in)));
}

static check_fn *const rollout_checks[] = { rollout_ends, rollout_invalid, rollout_goes_on,
                                            all_up_to_date };

enum reason status_rollout_reason(const struct cluster_view *v)
{
    if (v->mode == MODE_REMOVE)
        return REASON_REMOVING;
    if (v->problems)
        return REASON_INVALID_SPEC;
    return v->rollout && v->rollout->known ? rollout_report_reason(v->rollout) : REASON_NONE;
}

static check_fn *const ready_checks[] = { cond_headline };

static const struct chain {
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

static void conditions_judge(const struct checks *in, const struct chain *chain,
                             struct condition *ret)
{
    ret->type = chain->type;
    for (size_t i = 0; i < chain->len; i++)
        if (chain->checks[i](in, ret))
            return;
}

void status_conditions(const struct cluster_view *v, const struct err *failure, struct arena *a,
                       struct condition ret[static STATUS_CONDITIONS])
{
    struct checks in = { .v = v,
                         .t = v->tally,
                         .failure = failure,
                         .a = a,
                         .served = tally_served(v->tally),
                         .works = v->tally->states[NODE_READY] + v->tally->moving,
                         .rolling_out = &ret[STATUS_ROLLING_OUT] };
    conditions_judge(&in, &chains[STATUS_ROLLING_OUT], &ret[STATUS_ROLLING_OUT]);
    for (size_t i = 0; i < STATUS_ROLLING_OUT; i++)
        conditions_judge(&in, &chains[i], &ret[i]);
}
