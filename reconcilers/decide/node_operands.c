#include "reconcilers/decide/node_operands.h"

#include "base/str.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/revision.h"
#include "reconcilers/decide/owner.h"

void verdict_settle(struct node_verdict *v, enum node_state state, enum reason reason,
                    const char *message)
{
    v->state = state;
    v->reason = reason;
    v->message = message;
}

void verdict_set(const struct node_pass *p, enum node_state state, enum reason reason,
                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    verdict_settle(p->v, state, reason, arena_vprintf(p->a, fmt, ap));
    va_end(ap);
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

/* Whether a revision of the tier brings the operand. One without a member in the inputs comes with
 * each revision, even if the record is lost. */
static bool is_brought(const struct operand_row *o, enum tier tier, const json_t *inputs,
                       const char *hash)
{
    return operand_is_of(o, tier) && *hash && (!o->member || operand_is_in(o, inputs));
}

/* `hash`: the revision that its pod must have; NULL: any. */
static void want(struct node_verdict *v, const struct node_pods *pods, enum operand c,
                 const char *hash)
{
    v->wanted |= 1u << c;
    if (pods->of[c].ready && (!hash || str_eq(pods->of[c].revision, hash)))
        v->up |= 1u << c;
}

void operands_list(const struct node_input *in, struct node_verdict *v)
{
    for (enum tier t = 0; t < TIERS; t++) {
        const char *hash = v->carried.hash[t];
        const json_t *inputs = operands_inputs(in, t, hash);
        for (const struct operand_row *o = operand_rows; o->section; o++)
            if (is_brought(o, t, inputs, hash))
                want(v, in->pods, o->id, hash);
    }
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->class == OPERAND_CLASS_FOLLOWER && *v->carried.hash[TIER_STACK] &&
            policy_pool_runs(&in->policy->pools[v->pool], o->id))
            want(v, in->pods, o->id, NULL);
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

bool operands_offer_gpus(const struct node_input *in, const struct node_verdict *v)
{
    return !(v->wanted & 1u << OPERAND_DEVICE_PLUGIN) || in->view.node->gpus > 0;
}

unsigned operands_on_default_runtime(const struct node_pass *p, struct assignment_ref assigned)
{
    const json_t *stack = operands_inputs(p->in, TIER_STACK,
                                          str_or_empty(assigned.hash[TIER_STACK]));
    unsigned set = 0;
    if (!stack_has_default_runtime(stack))
        return 0;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->asks & FOLLOWER_DEFAULT_RUNTIME &&
            policy_pool_runs(&p->in->policy->pools[p->v->pool], o->id))
            set |= 1u << o->id;
    return set;
}

void operands_judge(const struct node_pass *p)
{
    unsigned missing = operands_missing(p->v);
    verdict_settle(p->v, NODE_READY, REASON_NONE, NULL);
    if (!missing)
        return;
    enum operand c = (enum operand) __builtin_ctz(missing); /* ids are in start order */
    const struct operand_pod *pod = &p->in->pods->of[c];
    p->v->cause = c;
    p->v->pod = pod->key;
    if (pod->problem) {
        verdict_settle(p->v, NODE_FAILED, reason_parse(pod->reason), pod->problem);
        p->v->word = pod->reason;
    } else if (pod->present) {
        verdict_set(p, NODE_INSTALLING, REASON_POD_STARTING, "pod %s is starting", pod->key);
    } else {
        verdict_set(p, NODE_INSTALLING, REASON_POD_MISSING, "there is no %s pod on the node yet",
                    operand_name(c));
    }
}

/* A follower's pods name the RuntimeClass nvidia. If Ostler's toolkit configures no runtime, a host
 * may lack its handler; then the kubelet retries such a pod without end. A toolkit of another
 * operator is not a host toolkit and has that handler, which a running container shows. */
static const char *follower_problem(const struct node_pass *p, enum operand follower)
{
    const struct operand_pod *pod = &p->in->pods->of[follower];
    const struct operand_row *o = operand_get(follower);
    bool may_lack = !(p->v->wanted & 1u << OPERAND_TOOLKIT) && !pod->running;
    if (pod->problem || !may_lack || !p->in->inventory || !p->in->inventory->no_handler ||
        (o->asks & FOLLOWER_DEFAULT_RUNTIME &&
         stack_has_default_runtime(
             operands_inputs(p->in, TIER_STACK, p->v->carried.hash[TIER_STACK]))))
        return pod->problem;
    return arena_printf(p->a,
                        "the host's own configuration of its container runtime has no handler "
                        "nvidia, which the %s's pods need: add it there, or set %s.enabled to "
                        "false in the policy or the node's pool",
                        o->title, o->section);
}

/* One DaemonSet serves all nodes, and its pods look for the kubelet in the distribution's default
 * directory. So metrics lack the pods' names if the kubelet has another --root-dir. */
static const char *unnamed_pods(const struct node_pass *p)
{
    const struct node_inventory *i = p->in->inventory;
    if (!i || !*i->kubelet_root)
        return NULL;
    return arena_printf(p->a,
                        "the GPUs work, and their metrics do not say which pods use them: the "
                        "exporter asks the kubelet in %s/pod-resources, and the kubelet's folder "
                        "is %s: link the former to %s/pod-resources on the node and delete the "
                        "exporter's pod there, or run the kubelet without --root-dir",
                        host_distributions[i->distribution].kubelet_root, i->kubelet_root,
                        i->kubelet_root);
}

void operands_judge_metrics(const struct node_pass *p)
{
    const unsigned exporter = 1u << OPERAND_EXPORTER;
    if (p->v->state != NODE_READY || !(p->v->wanted & exporter))
        return;
    const char *problem = follower_problem(p, OPERAND_EXPORTER), *words = NULL;
    if (p->v->up & exporter)
        words = unnamed_pods(p);
    else if (problem)
        words = arena_printf(p->a, "the GPUs work, and their metrics are missing: %s", problem);
    if (!words)
        return;
    p->v->cause = OPERAND_EXPORTER;
    p->v->pod = p->in->pods->of[OPERAND_EXPORTER].key;
    verdict_settle(p->v, NODE_READY, REASON_METRICS_MISSING, words);
}

void operands_judge_nvml(const struct node_pass *p)
{
    const unsigned cards = 1u << OPERAND_NODE_CARDS;
    if (p->v->state != NODE_READY || p->v->reason != REASON_NONE || !(p->v->wanted & cards) ||
        p->v->up & cards)
        return;
    const char *problem = follower_problem(p, OPERAND_NODE_CARDS);
    if (!problem)
        return;
    p->v->cause = OPERAND_NODE_CARDS;
    p->v->pod = p->in->pods->of[OPERAND_NODE_CARDS].key;
    verdict_set(p, NODE_READY, REASON_NVML_MISSING,
                "the GPUs work, and NVML is not asked about their health: %s", problem);
}

void operands_judge_others(const struct node_pass *p)
{
    const struct sign *other = p->in->pods->foreign;
    if (p->v->state != NODE_READY || !other || !(p->v->up & 1u << other->like))
        return;
    p->v->cause = other->like;
    p->v->pod = p->in->pods->foreign_pod;
    const char *seen_by = owner_seen_by(p->in->pods, p->a);
    if (other->place == SIGN_CLAIMS)
        verdict_set(p, NODE_READY, REASON_GPUS_ALLOCATED_TWICE,
                    "Ostler's device plugin gives the GPUs of the node to pods, and NVIDIA's DRA "
                    "driver gives the same ones to resource claims (%s): %s",
                    seen_by, other->remedy);
    else
        verdict_set(
            p, NODE_READY, REASON_SECOND_STACK,
            "Ostler runs its %s on the node, and %s (%s): which of the two works is left "
            "to chance. Keep the other one off the node, or set the node's label " LABEL_MANAGED
            "=false, which takes Ostler's off",
            operand_get(other->like)->title, other->sentence, seen_by);
}
