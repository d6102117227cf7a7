/* The policy's conditions: chains of checks, of which the first that applies decides. headline.c
 * has Ready. */
#include "reconcilers/decide/condition_checks.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/retry.h"

/* As the condition Ready says it, with the status True. */
static bool says_too(check_fn *of_ready, const struct checks *in, struct condition *ret)
{
    bool says = of_ready(in, ret);
    if (says)
        ret->status = "True";
    return says;
}

static bool reconciling_removal(const struct checks *in, struct condition *ret)
{
    return says_too(cond_removing, in, ret);
}

static bool reconciling_letting_go(const struct checks *in, struct condition *ret)
{
    const char *what = cond_letting_go(in);
    return *what && cond_set(in, ret, "True", REASON_REMOVING, "%s", what + strlen("; "));
}

static bool reconciling_failure(const struct checks *in, struct condition *ret)
{
    return in->failure && !cond_failure_lasts(in) && !in->v->problems &&
           cond_set_failure(in, ret, "True");
}

static bool reconciling_nodes(const struct checks *in, struct condition *ret)
{
    if (in->v->problems || cond_failure_lasts(in) || (in->v->settled && in->works == in->served))
        return false;
    return cond_set(in, ret, "True", REASON_INSTALLING, "%s", cond_ready(in));
}

static bool reconciling_detecting(const struct checks *in, struct condition *ret)
{
    return !cond_failure_lasts(in) && says_too(cond_detecting, in, ret);
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
    return cond_set(
        in, ret, "False", REASON_DONE, "%s",
        is_moving(in) ? "only the rollout is under way: the condition RollingOut shows its progress"
                      : "nothing is under way");
}

static check_fn *const reconciling_checks[] = { reconciling_removal,
                                                reconciling_failure,
                                                reconciling_nodes,
                                                reconciling_letting_go,
                                                reconciling_detecting,
                                                reconciling_nothing,
                                                NULL };

static bool stalled_invalid(const struct checks *in, struct condition *ret)
{
    return in->v->problems &&
           cond_set(in, ret, "True", REASON_INVALID_SPEC, "correct the spec: %s", in->v->problems);
}

static bool lacks_namespace(const struct checks *in, struct condition *ret)
{
    return cond_set_part(in, ret, "True", PREREQUISITES_NAMESPACE);
}

static bool stalled_failure(const struct checks *in, struct condition *ret)
{
    return cond_failure_lasts(in) && cond_set_failure(in, ret, "True");
}

static bool not_stalled(const struct checks *in, struct condition *ret)
{
    return cond_set(
        in, ret, "False", REASON_NOT_STALLED,
        "Ostler is not blocked; the conditions Ready and Degraded say whether an admin must act");
}

static check_fn *const stalled_checks[] = { stalled_invalid, lacks_namespace, stalled_failure,
                                            not_stalled, NULL };

static bool degraded_write(const struct checks *in, struct condition *ret)
{
    return !in->v->problems && stalled_failure(in, ret);
}

static bool degraded_failed(const struct checks *in, struct condition *ret)
{
    return in->t->states[NODE_FAILED] + in->t->states[NODE_UNSUPPORTED] &&
           cond_set_main_cause(in, ret, "True");
}

/* "2 nodes have GPUs with a fault that must be repaired: gpu-1, gpu-2; …" It hides no other reason,
 * because alerts and Argo CD's health check leave it out. */
static bool degraded_gpus(const struct checks *in, struct condition *ret)
{
    const struct brake_list *l = in->v->unhealthy;
    if (!l || !l->len)
        return false;
    return cond_set(in, ret, "True", REASON_GPUS_UNHEALTHY,
                    "%s ha%s GPUs with a fault that must be repaired: %s; see kubectl gpu nodes "
                    "-o wide",
                    cond_nodes(in, l->len), l->len == 1 ? "s" : "ve", brake_names(l, 0, in->a));
}

static bool degraded_foreign(const struct checks *in, struct condition *ret)
{
    MAP_EACH (e, &in->t->causes) {
        const struct cause *c = e->value;
        if (c->first->state == NODE_FOREIGN)
            return cond_set(in, ret, "False", REASON_FOREIGN_STACK, "%s",
                            cause_example(c)->message);
    }
    return false;
}

/* With the full command, which does not fit into the headline. */
static bool degraded_no_detector(const struct checks *in, struct condition *ret)
{
    return cond_no_detector(in, ret) &&
           cond_set(
               in, ret, "True", REASON_NO_DETECTOR,
               "%s. To install Node Feature Discovery: helm install nfd node-feature-discovery "
               "--repo https://kubernetes-sigs.github.io/node-feature-discovery/charts --namespace "
               "node-feature-discovery --create-namespace",
               ret->message);
}

static bool degraded_reports(const struct checks *in, struct condition *ret)
{
    return cond_set_part(in, ret, "True", PREREQUISITES_REPORTS);
}

static bool not_degraded(const struct checks *in, struct condition *ret)
{
    return cond_set(in, ret, "False", REASON_NOTHING_FAILS,
                    "no node, no GPU, no operand and no revision has failed");
}

static check_fn *const degraded_checks[] = { lacks_namespace,
                                             degraded_write,
                                             degraded_failed,
                                             cond_rolled_back,
                                             cond_metrics,
                                             degraded_reports,
                                             degraded_no_detector,
                                             degraded_gpus,
                                             degraded_foreign,
                                             not_degraded,
                                             NULL };

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
           cond_set(in, ret, "False", status_rollout_reason(in->v), "the policy is being removed");
}

static bool rollout_invalid(const struct checks *in, struct condition *ret)
{
    if (!in->v->problems)
        return false;
    const char *goes_on = cond_is_rolling_out(in) ? str_or_empty(in->v->rollout->message)
                                                  : "running operands are not changed";
    return cond_set(
        in, ret, moving_status(in), status_rollout_reason(in->v),
        "the spec is not applied until it is corrected; according to the last valid spec: %s%s",
        on_the_way(in), goes_on);
}

static bool rollout_goes_on(const struct checks *in, struct condition *ret)
{
    return cond_is_rolling_out(in) &&
           cond_set(in, ret, moving_status(in), status_rollout_reason(in->v), "%s%s%s",
                    on_the_way(in), str_or_empty(in->v->rollout->message), retry_text(in));
}

static bool all_up_to_date(const struct checks *in, struct condition *ret)
{
    return cond_set(in, ret, "False", REASON_UP_TO_DATE, "no node is changing its revision%s",
                    retry_text(in));
}

static check_fn *const rollout_checks[] = { rollout_ends, rollout_invalid, rollout_goes_on,
                                            all_up_to_date, NULL };

static bool braked_observes(const struct checks *in, struct condition *ret)
{
    return in->v->health && in->v->health->mode == HEALTH_MODE_OBSERVE &&
           cond_set(in, ret, "False", REASON_OBSERVING,
                    "health.mode is Observe: Ostler closes no node");
}

static bool not_braked(const struct checks *in, struct condition *ret)
{
    return cond_set(in, ret, "False", REASON_NOT_BRAKED,
                    "no storm of faults: fewer nodes became unhealthy at a time than Ostler may "
                    "close");
}

static check_fn *const braked_checks[] = { braked_observes, cond_braked, not_braked, NULL };

enum reason status_rollout_reason(const struct cluster_view *v)
{
    if (v->mode == MODE_REMOVE)
        return REASON_REMOVING;
    if (v->problems)
        return REASON_INVALID_SPEC;
    return v->rollout && v->rollout->known ? rollout_report_reason(v->rollout) : REASON_NONE;
}

static const struct chain {
    const char *type;
    check_fn *const *checks;
} chains[STATUS_CONDITIONS] = {
    [STATUS_READY] = { "Ready", cond_headline },
    [STATUS_RECONCILING] = { "Reconciling", reconciling_checks },
    [STATUS_STALLED] = { "Stalled", stalled_checks },
    [STATUS_DEGRADED] = { "Degraded", degraded_checks },
    [STATUS_ROLLING_OUT] = { "RollingOut", rollout_checks },
    [STATUS_HEALTH_BRAKED] = { "HealthBraked", braked_checks },
};

static void conditions_judge(const struct checks *in, const struct chain *chain,
                             struct condition *ret)
{
    check_fn *const *check = chain->checks;
    ret->type = chain->type;
    while (*check && !(*check)(in, ret))
        check++;
}

void status_conditions(const struct cluster_view *v, const struct err *failure, struct arena *a,
                       struct condition ret[static STATUS_CONDITIONS])
{
    struct checks in = { .v = v,
                         .t = v->tally,
                         .failure = failure,
                         .a = a,
                         .served = tally_served(v->tally),
                         .managed = tally_managed(v->tally),
                         .works = v->tally->states[NODE_READY] + v->tally->states[NODE_UNHEALTHY] +
                                  v->tally->moving,
                         .rolling_out = &ret[STATUS_ROLLING_OUT] };
    conditions_judge(&in, &chains[STATUS_ROLLING_OUT], &ret[STATUS_ROLLING_OUT]);
    for (size_t i = 0; i < STATUS_CONDITIONS; i++)
        if (i != STATUS_ROLLING_OUT)
            conditions_judge(&in, &chains[i], &ret[i]);
}
