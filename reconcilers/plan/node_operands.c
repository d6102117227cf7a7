#include "reconcilers/plan/node_operands.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/plan/owner.h"

void verdict_settle(struct node_verdict *v, enum node_state state, enum reason reason,
                    const char *message)
{
    v->state = state;
    v->reason = reason;
    v->message = message;
}

/* What a kubelet or the scheduler says of a pod. */
static void settle_problem(struct node_verdict *v, const char *word, const char *problem)
{
    verdict_settle(v, NODE_FAILED, reason_parse(word), problem);
    v->word = word;
}

void verdict_ran(struct node_verdict *v, const char *driver, const char *stack)
{
    snprintf(v->ran_driver, sizeof v->ran_driver, "%s", driver);
    snprintf(v->ran_stack, sizeof v->ran_stack, "%s", stack);
}

static void want(struct node_verdict *v, const struct node_pods *pods, enum component c, const char *hash)
{
    v->wanted |= 1u << c;
    bool right = !hash || str_eq(pods->of[c].revision, hash);
    if (pods->of[c].ready && right)
        v->up |= 1u << c;
}

const json_t *operands_inputs(const struct node_input *in, const char *tier, const char *hash)
{
    size_t pool;
    const json_t *inputs = *hash ? in->record(in->arg, tier, hash) : NULL;
    return inputs || !*hash ? inputs : targets_inputs(in->targets, tier, hash, &pool);
}

void operands_list(const struct node_input *in, struct node_verdict *v)
{
    if (*v->driver)
        want(v, in->pods, COMPONENT_DRIVER, v->driver);
    if (!*v->stack)
        return;
    const json_t *stack = operands_inputs(in, "stack", v->stack);
    if (json_bool(stack, "toolkit.enabled", false))
        want(v, in->pods, COMPONENT_TOOLKIT, v->stack);
    if (json_bool(stack, "devicePlugin.enabled", false))
        want(v, in->pods, COMPONENT_DEVICE_PLUGIN, v->stack);
    if (in->policy->pools[v->pool].exporter)
        want(v, in->pods, COMPONENT_EXPORTER, NULL);
}

/* Of all components, as bits. */
static unsigned tiered(void)
{
    unsigned bits = 0;
    for (int i = 0; i < COMPONENT_COUNT; i++)
        bits |= *component_tier((enum component) i) ? 1u << i : 0;
    return bits;
}

bool operands_only_watch(const struct node_verdict *v)
{
    return !(v->wanted & tiered());
}

unsigned operands_missing(const struct node_verdict *v)
{
    return v->wanted & ~v->up & tiered();
}

void operands_judge(const struct node_input *in, struct arena *a, struct node_verdict *v)
{
    verdict_settle(v, NODE_READY, REASON_NONE, NULL);
    for (int i = 0; i < COMPONENT_COUNT; i++) {
        enum component c = (enum component) i;
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
                           arena_printf(a, "there is no %s pod on the node yet", component_name(c)));
        return;
    }
}

/* The exporter's pods name the RuntimeClass nvidia. Where Ostler's toolkit configures no runtime, a host may lack its handler:
 * the kubelet then tries for ever to begin such a pod. A toolkit of another operator is none of the host's own, and has that
 * handler: a container that runs shows it. */
static const char *metrics_problem(const struct node_input *in, const struct node_verdict *v)
{
    const char *problem = in->pods->of[COMPONENT_EXPORTER].problem;
    bool may_lack = !(v->wanted & 1u << COMPONENT_TOOLKIT) && !in->pods->of[COMPONENT_EXPORTER].running;
    if (problem || !may_lack || !in->inventory || !in->inventory->no_handler)
        return problem;
    return "the host's own configuration of its container runtime has no handler nvidia, which the exporter's pods need: add it "
           "there, or set exporter.enabled to false in the policy or the node's pool";
}

/* One DaemonSet is for all nodes, and its pods ask the kubelet where its distribution has it: who has which GPU is not known of a
 * kubelet with another --root-dir. */
static const char *unnamed_pods(const struct node_input *in, struct arena *a)
{
    const struct node_inventory *i = in->inventory;
    if (!i || !*i->kubelet_root)
        return NULL;
    const char *asked = host_kubelet_root(i->distribution);
    return arena_printf(a, "the GPUs work, and their metrics do not say which pods use them: the exporter asks the kubelet in "
                           "%s/pod-resources, and the kubelet's folder is %s: link the former to %s/pod-resources on the node "
                           "and delete the exporter's pod there, or run the kubelet without --root-dir", asked, i->kubelet_root,
                        i->kubelet_root);
}

void operands_judge_metrics(const struct node_input *in, struct arena *a, struct node_verdict *v)
{
    const unsigned exporter = 1u << COMPONENT_EXPORTER;
    const char *problem = metrics_problem(in, v), *words = NULL;
    if (v->state != NODE_READY || !(v->wanted & exporter))
        return;
    if (v->up & exporter)
        words = unnamed_pods(in, a);
    else if (problem)
        words = arena_printf(a, "the GPUs work, and their metrics are missing: %s", problem);
    if (!words)
        return;
    v->cause = COMPONENT_EXPORTER;
    v->pod = in->pods->of[COMPONENT_EXPORTER].key;
    verdict_settle(v, NODE_READY, REASON_METRICS_MISSING, words);
}

void operands_judge_claims(const struct node_input *in, struct arena *a, struct node_verdict *v)
{
    const struct sign *other = in->pods->foreign;
    if (v->state != NODE_READY || !other || other->place != SIGN_CLAIMS || !(v->up & 1u << COMPONENT_DEVICE_PLUGIN))
        return;
    v->cause = COMPONENT_DEVICE_PLUGIN;
    v->pod = in->pods->foreign_pod;
    verdict_settle(v, NODE_READY, REASON_GPUS_ALLOCATED_TWICE,
                   arena_printf(a, "Ostler's device plugin gives the GPUs of the node to pods, and NVIDIA's DRA driver gives the "
                                   "same ones to resource claims (%s): %s", owner_seen_by(in->pods, a), other->remedy));
}
