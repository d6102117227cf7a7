/* Computes the condition Ready, the headline of the status: `kubectl get gpuclusterpolicies` and
 * `kubectl gpu status` print its reason and message. It has the worst problem and what to do about
 * it. Only the table at the end of this file decides what is worse. */
#include "reconcilers/decide/condition_checks.h"
#include "reconcilers/decide/detecting.h"

/* ---- problems that last until a user acts */

static bool is_invalid(const struct checks *in, struct condition *ret)
{
    return in->v->problems &&
           cond_set(in, ret, "False", REASON_INVALID_SPEC,
                    "Ostler does not apply the spec or change running operands: %s",
                    in->v->problems);
}

/* Operands can run nowhere; missing operands and failing writes only follow from that. */
static bool has_no_namespace(const struct checks *in, struct condition *ret)
{
    return cond_set_part(in, ret, "False", PREREQUISITES_NAMESPACE);
}

static bool has_failed_writes(const struct checks *in, struct condition *ret)
{
    return in->failure && cond_set_failure(in, ret, "False");
}

static bool is_unsettled(const struct checks *in, struct condition *ret)
{
    return !in->v->settled &&
           cond_set(in, ret, "Unknown", REASON_READING, "Ostler is reading the nodes");
}

/* ---- nodes that are not ready or not known */

static bool lacks_nodes(const struct checks *in, struct condition *ret)
{
    return in->works != in->served &&
           (cond_set_main_cause(in, ret, "False") ||
            cond_set(in, ret, "False", REASON_INSTALLING, "%s", cond_ready(in)));
}

/* ---- nodes that work, with something to report */

/* Nodes that the administrator excludes, which no agent scans. */
static const char *left_out(const struct checks *in)
{
    if (!in->v->control_plane)
        return "";
    return arena_printf(
        in->a,
        "; of the control plane, where Ostler runs nothing without --control-plane-nodes: %s",
        cond_nodes(in, in->v->control_plane));
}

/* Nodes whose state is not known because no agent reports. */
static const char *silent(const struct checks *in)
{
    const struct child *agents = detecting_agents(in->v);
    if (!agents || agents->silent <= 0)
        return "";
    return arena_printf(in->a, "; without an agent that is up: %s (see kubectl -n %s describe pod)",
                        cond_nodes(in, (size_t) agents->silent), in->v->operand_namespace);
}

static bool has_no_nodes(const struct checks *in, struct condition *ret)
{
    const struct tally *t = in->t;
    if (in->served)
        return false;
    if (t->states[NODE_LOST])
        return cond_set(in, ret, "True", REASON_NODES_DOWN,
                        "every GPU node that Ostler serves is down: %s; see kubectl get nodes%s",
                        cond_nodes(in, t->states[NODE_LOST]), cond_letting_go(in));
    if (t->states[NODE_FOREIGN])
        return cond_set(in, ret, "True", REASON_FOREIGN_STACK,
                        "no node to serve; served by another GPU stack: %s%s%s",
                        cond_nodes(in, t->states[NODE_FOREIGN]), silent(in), cond_letting_go(in));
    return cond_set(in, ret, "True", REASON_NO_GPU_NODES,
                    "there is no GPU node to serve among %s%s%s%s", cond_nodes(in, t->total),
                    left_out(in), silent(in), cond_letting_go(in));
}

static bool lacks_reports(const struct checks *in, struct condition *ret)
{
    return cond_set_part(in, ret, "True", PREREQUISITES_REPORTS);
}

static bool is_braked(const struct checks *in, struct condition *ret)
{
    const struct brake_list *l = in->v->closings;
    const struct brake_verdict *brake = &in->v->brake;
    return cond_braked(in, ret) &&
           cond_set(in, ret, "True", REASON_BRAKED,
                    "the storm brake is on: %s became unhealthy at a time, and Ostler closes %zu "
                    "of them: check the driver, the NVLink fabric and power of %s",
                    cond_nodes(in, l->len - brake->first), brake->limit,
                    brake_names(l, brake->first, in->a));
}

/* "; closed for faults of their GPUs: 2 nodes"; "": none. */
static const char *closed_text(const struct checks *in)
{
    size_t n = in->t->states[NODE_UNHEALTHY];
    return n ? arena_printf(in->a, "; closed for faults of their GPUs: %s", cond_nodes(in, n)) : "";
}

/* Nodes that a rollout takes out of service do not make the policy less than ready; the numbers
 * show them. */
static bool rolls_out(const struct checks *in, struct condition *ret)
{
    if (!cond_is_rolling_out(in))
        return false;
    bool moves = in->v->rollout->active || in->v->rollout->waiting;
    return cond_set(in, ret, "True", moves ? REASON_ROLLING_OUT : status_rollout_reason(in->v),
                    "%s: %s%s", cond_ready(in), in->rolling_out->message, closed_text(in));
}

static bool has_all(const struct checks *in, struct condition *ret)
{
    const struct tally *t = in->t;
    const char *others = closed_text(in);
    if (t->moving)
        others = arena_printf(in->a, "%s; changing revision: %s", others,
                              cond_nodes(in, t->moving));
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->class == OPERAND_CLASS_FOLLOWER && t->operands[o->id].up < t->operands[o->id].wanted)
            others = arena_printf(in->a, "%s; %ss that are up: %zu of %zu", others, o->title,
                                  t->operands[o->id].up, t->operands[o->id].wanted);
    if (t->states[NODE_LOST])
        others = arena_printf(in->a, "%s; down: %s", others, cond_nodes(in, t->states[NODE_LOST]));
    if (t->states[NODE_FOREIGN])
        others = arena_printf(in->a, "%s; served by another GPU stack: %s", others,
                              cond_nodes(in, t->states[NODE_FOREIGN]));
    return cond_set(in, ret, "True", REASON_ALL_NODES_READY,
                    "every GPU node is in its desired state: %s%s%s%s", cond_nodes(in, in->served),
                    others, silent(in), cond_letting_go(in));
}

/* Worst first: the first that applies is the headline. docs/reasons.md has a row for each. */
check_fn *const cond_headline[] = {
    /* Ostler acts on nothing, or not on everything. */
    cond_removing,
    is_invalid,
    has_no_namespace,
    has_failed_writes,
    is_unsettled,
    lacks_nodes,
    cond_detecting,
    cond_no_detector, /* GPUs cannot be used or detected */
    /* GPUs work, but not everything is as requested. */
    has_no_nodes,
    cond_rolled_back,
    is_braked,
    cond_metrics,
    rolls_out,
    lacks_reports,
    has_all,
    NULL,
};
