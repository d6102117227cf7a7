#include "reconcilers/decide/condition_checks.h"

#include <string.h>

#include "reconcilers/model/names.h"
#include "reconcilers/decide/detecting.h"
#include "reconcilers/decide/rollout_message.h"

bool cond_set(const struct checks *in, struct condition *ret, const char *status,
              enum reason reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ret->status = status;
    ret->reason = reason_text(reason);
    ret->message = arena_vprintf(in->a, fmt, ap);
    va_end(ap);
    return true;
}

const char *cond_nodes(const struct checks *in, size_t n)
{
    return arena_printf(in->a, "%zu node%s", n, n == 1 ? "" : "s");
}

const char *cond_ready(const struct checks *in)
{
    return arena_printf(in->a, "%zu of %s ready", in->t->states[NODE_READY],
                        cond_nodes(in, in->managed));
}

bool cond_set_part(const struct checks *in, struct condition *ret, const char *status,
                   enum prerequisite part)
{
    const struct prerequisite_problem *p = in->v->prerequisites
                                               ? prerequisites_of(in->v->prerequisites, part)
                                               : NULL;
    return p && cond_set(in, ret, status, p->reason, "%s", p->message);
}

bool cond_is_rolling_out(const struct checks *in)
{
    const struct rollout_report *r = in->v->rollout;
    return r && r->known && r->hold != ROLLOUT_HOLD_DONE;
}

/* ---- refused writes */

/* What a user has to do about a refused write, by its kind. */
static const struct {
    enum err_kind kind;
    const char *todo;
} lasting[] = {
    { ERR_INVALID, "correct the field of the policy that the message names" },
    { ERR_NOT_FOUND, "create what the message says is missing" },
    { ERR_FORBIDDEN, "give Ostler's account the permission (helm upgrade), or change the quota or "
                     "admission rule that refuses it" },
    { ERR_UNAUTHORIZED, "check the token of Ostler's ServiceAccount" },
    { ERR_TOO_LARGE, "make the policy smaller" },
};

static const char *todo_of(const struct err *failure)
{
    for (size_t i = 0; failure && i < ARRAY_LEN(lasting); i++)
        if (failure->kind == lasting[i].kind)
            return lasting[i].todo;
    return NULL;
}

bool cond_failure_lasts(const struct checks *in)
{
    return todo_of(in->failure) != NULL;
}

bool cond_set_failure(const struct checks *in, struct condition *ret, const char *status)
{
    const char *todo = todo_of(in->failure);
    return cond_set(in, ret, status, REASON_RECONCILE_FAILED, "a write by Ostler failed: %s; %s",
                    err_msg(in->failure), todo ? todo : "Ostler retries it");
}

/* ---- causes */

static bool keeps_from_ready(const struct cause *c)
{
    enum node_state state = c->first->state;
    return node_state_served(state) && state != NODE_READY && state != NODE_UNHEALTHY &&
           !c->first->moving;
}

/* A ready node has no other cause. */
static bool is_of_metrics(const struct cause *c)
{
    return c->first->state == NODE_READY;
}

/* GPU pods keep the driver of nodes that Ostler releases. */
static bool is_of_gpu_pods(const struct cause *c)
{
    return c->reason == REASON_WAITING_FOR_GPU_PODS;
}

static const struct cause *main_cause(const struct checks *in)
{
    return tally_first_cause(in->t, keeps_from_ready);
}

const char *cond_words_text(const struct checks *in, const char *node, const char *told)
{
    const char *words = in->v->log_tail && node ? in->v->log_tail(in->v->arg, node, in->a) : NULL;
    bool said = words && told && strstr(told, words);
    return words && !said ? arena_printf(in->a, "; its log ends: %s", words) : "";
}

const char *cond_pod_text(const struct checks *in, const struct node_summary *s)
{
    bool said = !s->pod || (s->message && strstr(s->message, s->pod));
    return said ? "" : arena_printf(in->a, ", pod %s", s->pod);
}

/* "driver: 3 of 10 nodes: ImagePullBackOff: … (node gpu-1, pod …)" */
bool cond_set_main_cause(const struct checks *in, struct condition *ret, const char *status)
{
    const struct cause *c = main_cause(in);
    if (!c)
        return false;
    const struct node_summary *s = cause_example(c);
    const char *what = operand_name(c->component);
    cond_set(in, ret, status, c->reason, "%s%s%zu of %s: %s (node %s%s)%s", what, *what ? ": " : "",
             c->nodes, cond_nodes(in, in->managed), s->message ? s->message : c->word, s->name,
             cond_pod_text(in, s),
             s->state == NODE_FAILED ? cond_words_text(in, s->name, s->message) : "");
    ret->reason = c->word;
    return true;
}

/* "exporter: 1 of 3 nodes: the GPUs work, and their metrics are missing: …" */
bool cond_metrics(const struct checks *in, struct condition *ret)
{
    const struct cause *c = tally_first_cause(in->t, is_of_metrics);
    if (!c)
        return false;
    const struct node_summary *s = cause_example(c);
    cond_set(
        in, ret, "True", c->reason, "%s: %zu of %s: %s (node %s%s); see kubectl -n %s describe pod",
        operand_name(c->component), c->nodes, cond_nodes(in, in->managed),
        s->message ? s->message : c->word, s->name, cond_pod_text(in, s), in->v->operand_namespace);
    ret->reason = c->word;
    return true;
}

/* ---- the storm brake */

/* Without times: the reports, from which a restarted Ostler has them, are a moment younger. */
bool cond_braked(const struct checks *in, struct condition *ret)
{
    const struct brake_verdict *brake = &in->v->brake;
    const struct brake_list *l = in->v->closings;
    char window[ROLLOUT_SPAN_MAX], cooldown[ROLLOUT_SPAN_MAX];
    if (!brake->on || in->v->mode != MODE_MANAGE)
        return false;
    rollout_span_text(in->v->health->brake.window_s, window);
    rollout_span_text(in->v->health->brake.cooldown_s, cooldown);
    return cond_set(in, ret, "True", REASON_BRAKED,
                    "%s became unhealthy at a time, and health.brake lets Ostler close %zu within "
                    "%s: %s. Faults of so many nodes have a common cause: check the driver, the "
                    "NVLink fabric and power. The brake is released when no other node has become "
                    "unhealthy for %s",
                    cond_nodes(in, l->len - brake->first), brake->limit, window,
                    brake_names(l, brake->first, in->a), cooldown);
}

/* ---- nodes that Ostler releases */

bool cond_removing(const struct checks *in, struct condition *ret)
{
    if (in->v->mode != MODE_REMOVE)
        return false;
    const struct cause *c = tally_first_cause(in->t, is_of_gpu_pods);
    const char *waits = !c ? ""
                           : arena_printf(in->a,
                                          "; waiting on %zu: %s. To skip the wait: kubectl "
                                          "annotate gpuclusterpolicy " POLICY_NAME
                                          " " POLICY_FORCE_REMOVAL "=true",
                                          c->nodes, cause_example(c)->message);
    return cond_set(in, ret, "False", REASON_REMOVING,
                    "the policy is being removed: %s still to be cleaned%s",
                    cond_nodes(in, in->t->states[NODE_REMOVING]), waits);
}

const char *cond_letting_go(const struct checks *in)
{
    size_t n = in->t->states[NODE_REMOVING];
    const struct cause *c = n ? tally_first_cause(in->t, is_of_gpu_pods) : NULL;
    if (c)
        return arena_printf(in->a, "; being released: %s (%s)", cond_nodes(in, n),
                            cause_example(c)->message);
    return n ? arena_printf(in->a, "; being released: %s", cond_nodes(in, n)) : "";
}

/* ---- detection of GPUs */

bool cond_detecting(const struct checks *in, struct condition *ret)
{
    if (!detecting_wait_s(in->v))
        return false;
    bool up = detecting_agents(in->v)->silent == 0;
    return cond_set(
        in, ret, "False", REASON_DETECTING, "it is not known yet whether %s ha%s a GPU: %s",
        cond_nodes(in, in->t->total), in->t->total == 1 ? "s" : "ve",
        up ? "the agents are scanning"
           : arena_printf(in->a, "not all of their agents are up; see kubectl -n %s describe pod",
                          in->v->operand_namespace));
}

/* How to get a detector, in the fewest words. */
static const char *detector_cure(const struct checks *in)
{
    if (in->v->control_plane == in->t->total)
        return "all of them are nodes of the control plane, where Ostler runs nothing without "
               "--control-plane-nodes (the chart's controlPlaneNodes): set that, or";
    if (detecting_agents(in->v))
        return arena_printf(in->a,
                            "the pods of the node agent are not up: kubectl -n %s describe pod; or",
                            in->v->operand_namespace);
    return in->v->agent_image ? "set spec.nodeAgent.enabled to true, or"
                              : "start Ostler with --agent-image, or";
}

bool cond_no_detector(const struct checks *in, struct condition *ret)
{
    bool may_say = in->v->settled && in->v->mode == MODE_MANAGE && !detecting_wait_s(in->v);
    if (in->t->looked_at || !in->t->total || in->served || !may_say)
        return false;
    return cond_set(
        in, ret, "False", REASON_NO_DETECTOR,
        "Ostler cannot tell which of %s have a GPU: %s install Node Feature Discovery, or "
        "run: kubectl label node NAME " LABEL_GPU_PRESENT "=true",
        cond_nodes(in, in->t->total), detector_cure(in));
}

/* ---- a version that failed */

bool cond_rolled_back(const struct checks *in, struct condition *ret)
{
    const struct rollout_report *r = in->v->rollout;
    if (!r || !r->known || !r->failure || !in->v->settled || in->v->mode != MODE_MANAGE)
        return false;
    bool back = in->served && r->active + r->waiting + r->failed == 0 && !main_cause(in);
    return cond_set(in, ret, "True", back ? REASON_ROLLED_BACK : REASON_REVISION_FAILED,
                    "%s%s. Correct the policy, or retry the revision: " POLICY_RETRY_COMMAND "%s",
                    r->failure, back ? ", and was rolled back" : "", r->failure_retry,
                    cond_words_text(in, r->failure_node, NULL));
}
