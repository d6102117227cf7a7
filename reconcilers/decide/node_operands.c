#include "reconcilers/decide/node_operands.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/decide/owner.h"

void verdict_settle(struct node_verdict *v, enum node_state state, enum reason reason,
                    const char *message)
{
    v->state = state;
    v->reason = reason;
    v->message = message;
}

/* Reports a pod's problem from the kubelet or the scheduler. */
static void settle_problem(struct node_verdict *v, const char *word, const char *problem)
{
    verdict_settle(v, NODE_FAILED, reason_parse(word), problem);
    v->word = word;
}

static void want(struct node_verdict *v, const struct node_pods *pods, enum operand c,
                 const char *hash)
{
    v->wanted |= 1u << c;
    bool right = !hash || str_eq(pods->of[c].revision, hash);
    if (pods->of[c].ready && right)
        v->up |= 1u << c;
}

const json_t *operands_inputs(const struct node_input *in, enum tier tier, const char *hash)
{
    size_t pool;
    const json_t *inputs = *hash ? in->record(in->arg, tier, hash) : NULL;
    return inputs || !*hash ? inputs : targets_inputs(in->targets, tiers[tier].name, hash, &pool);
}

bool operands_recorded(const struct node_input *in, struct assignment_ref wanted)
{
    struct assignment_ref now = node_assigned(&in->view);
    for (enum tier t = 0; t < TIERS; t++) {
        const char *hash = str_or_empty(wanted.hash[t]);
        if (*hash && !str_eq(hash, now.hash[t]) && (in->deleting || !in->record(in->arg, t, hash)))
            return false;
    }
    return true;
}

void operands_list(const struct node_input *in, struct node_verdict *v)
{
    const json_t *stack = operands_inputs(in, TIER_STACK, v->carried.hash[TIER_STACK]);
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        bool follows = o->class == OPERAND_CLASS_FOLLOWER;
        if (operand_is_of(o, TIER_DRIVER) && *v->carried.hash[TIER_DRIVER])
            want(v, in->pods, o->id, v->carried.hash[TIER_DRIVER]);
        if (operand_is_in(o, stack))
            want(v, in->pods, o->id, v->carried.hash[TIER_STACK]);
        if (follows && *v->carried.hash[TIER_STACK] &&
            policy_pool_runs(&in->policy->pools[v->pool], o->id))
            want(v, in->pods, o->id, NULL);
    }
}

bool operands_present(const struct node_pods *p, unsigned set)
{
    bool present = false;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        present |= (set >> o->id & 1) && p->of[o->id].present;
    return present;
}

unsigned operands_with_stack(void)
{
    return operands_of_tier(TIER_STACK) | operands_of_class(OPERAND_CLASS_FOLLOWER);
}

bool operands_only_watch(const struct node_verdict *v)
{
    return !(v->wanted & operands_of_class(OPERAND_CLASS_TIER));
}

unsigned operands_missing(const struct node_verdict *v)
{
    return v->wanted & ~v->up & operands_of_class(OPERAND_CLASS_TIER);
}

void operands_judge(const struct node_input *in, struct arena *a, struct node_verdict *v)
{
    verdict_settle(v, NODE_READY, REASON_NONE, NULL);
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        enum operand c = o->id;
        if (!(operands_missing(v) & (1u << c)))
            continue;
        v->cause = c;
        v->pod = in->pods->of[c].key;
        const char *problem = in->pods->of[c].problem;
        if (problem)
            settle_problem(v, in->pods->of[c].reason, problem);
        else if (in->pods->of[c].present)
            verdict_settle(v, NODE_INSTALLING, REASON_POD_STARTING,
                           arena_printf(a, "pod %s is starting", in->pods->of[c].key));
        else
            verdict_settle(v, NODE_INSTALLING, REASON_POD_MISSING,
                           arena_printf(a, "there is no %s pod on the node yet", operand_name(c)));
        return;
    }
}

/* The exporter's pods name the RuntimeClass nvidia. If Ostler's toolkit configures no runtime, a
 * host may lack its handler; then the kubelet retries such a pod without end. A toolkit of another
 * operator is not a host toolkit and has that handler, which a running container shows. */
static const char *metrics_problem(const struct node_input *in, const struct node_verdict *v)
{
    const char *problem = in->pods->of[OPERAND_EXPORTER].problem;
    bool may_lack = !(v->wanted & 1u << OPERAND_TOOLKIT) && !in->pods->of[OPERAND_EXPORTER].running;
    if (problem || !may_lack || !in->inventory || !in->inventory->no_handler)
        return problem;
    return "the host's own configuration of its container runtime has no handler nvidia, which the "
           "exporter's pods need: add it "
           "there, or set exporter.enabled to false in the policy or the node's pool";
}

/* One DaemonSet serves all nodes, and its pods look for the kubelet in the distribution's default
 * directory. So metrics lack the pods' names if the kubelet has another --root-dir. */
static const char *unnamed_pods(const struct node_input *in, struct arena *a)
{
    const struct node_inventory *i = in->inventory;
    if (!i || !*i->kubelet_root)
        return NULL;
    const char *asked = host_kubelet_root(i->distribution);
    return arena_printf(
        a,
        "the GPUs work, and their metrics do not say which pods use them: the exporter asks the "
        "kubelet in "
        "%s/pod-resources, and the kubelet's folder is %s: link the former to %s/pod-resources on "
        "the node "
        "and delete the exporter's pod there, or run the kubelet without --root-dir",
        asked, i->kubelet_root, i->kubelet_root);
}

void operands_judge_metrics(const struct node_input *in, struct arena *a, struct node_verdict *v)
{
    const unsigned exporter = 1u << OPERAND_EXPORTER;
    const char *problem = metrics_problem(in, v), *words = NULL;
    if (v->state != NODE_READY || !(v->wanted & exporter))
        return;
    if (v->up & exporter)
        words = unnamed_pods(in, a);
    else if (problem)
        words = arena_printf(a, "the GPUs work, and their metrics are missing: %s", problem);
    if (!words)
        return;
    v->cause = OPERAND_EXPORTER;
    v->pod = in->pods->of[OPERAND_EXPORTER].key;
    verdict_settle(v, NODE_READY, REASON_METRICS_MISSING, words);
}

void operands_judge_claims(const struct node_input *in, struct arena *a, struct node_verdict *v)
{
    const struct sign *other = in->pods->foreign;
    if (v->state != NODE_READY || !other || other->place != SIGN_CLAIMS ||
        !(v->up & 1u << OPERAND_DEVICE_PLUGIN))
        return;
    v->cause = OPERAND_DEVICE_PLUGIN;
    v->pod = in->pods->foreign_pod;
    verdict_settle(v, NODE_READY, REASON_GPUS_ALLOCATED_TWICE,
                   arena_printf(a,
                                "Ostler's device plugin gives the GPUs of the node to pods, and "
                                "NVIDIA's DRA driver gives the "
                                "same ones to resource claims (%s): %s",
                                owner_seen_by(in->pods, a), other->remedy));
}
