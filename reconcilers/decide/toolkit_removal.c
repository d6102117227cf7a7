#include "reconcilers/decide/toolkit_removal.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"

/* The image is usually there, and two restarts of a runtime take half a minute. Helm waits five
 * minutes for the hook that removes everything, and the driver is removed after this. */
enum { REMOVAL_MAX_S = 180 };

/* k3s and RKE2 write the runtime's configuration themselves at each start, while they find the
 * toolkit's directory. */
static bool configures_itself(const json_t *stack)
{
    static const enum host_distribution ones[] = { DISTRIBUTION_K3S, DISTRIBUTION_RKE2 };
    for (size_t i = 0; i < ARRAY_LEN(ones); i++)
        if (str_eq(json_str(stack, "distribution"), host_distribution_name(ones[i])))
            return true;
    return false;
}

/* Whether this stack's toolkit is Ostler's and has configured its nodes' runtimes. */
static bool has_configured(const struct node_input *in, const char *hash)
{
    const json_t *stack = in->record(in->arg, TIER_STACK, hash);
    return json_bool(stack, "toolkit.enabled", false) && !configures_itself(stack);
}

/* As far as Ostler can see, its pod never got as far as installing anything here: it is not up, and
 * the node was never validated. */
static bool never_came(const struct node_input *in)
{
    const struct node_pods *p = in->pods;
    return !p->of[OPERAND_TOOLKIT].ready && !p->of[OPERAND_TOOLKIT].running &&
           !in->view.node->proof;
}

/* The stack on the node, or, while it is claimed, its last one; NULL: none that has changed
 * anything there. */
static const char *stack_of(const struct node_input *in, struct arena *a)
{
    const char *label = node_label(&in->view, LABEL_STACK),
               *text = intern_text(in->view.strings, in->view.node->claim);
    struct claim claim;
    if (label)
        return never_came(in) ? NULL : label;
    if (!text || !claim_parse(text, &claim, NULL) || !*claim_last_stack(&claim))
        return NULL;
    return arena_strdup(a, claim_last_stack(&claim));
}

/* Seconds that the pod has left; time without a watch does not count. */
static int64_t left_s(const struct node_input *in)
{
    int64_t since_s = in->removing_since_s > in->watched_since_s ? in->removing_since_s
                                                                 : in->watched_since_s;
    return since_s + REMOVAL_MAX_S - in->now_s;
}

static struct assignment_ref without_stack(const struct node_input *in)
{
    return assignment_before(node_assigned(&in->view), TIER_STACK);
}

static struct removal_step toolkit_removal_give_up(const struct node_input *in, struct arena *a,
                                                   const char *why)
{
    return (struct removal_step){
        .left = without_stack(in),
        .reason = REASON_RUNTIME_NOT_CLEANED,
        .message = arena_printf(
            a,
            "node %s: the configuration of its container runtime still names NVIDIA's "
            "toolkit: %s",
            in->view.node->head.key, why)
    };
}

static struct removal_step toolkit_removal_await(const struct node_input *in, struct arena *a,
                                                 const char *hash, struct actions *actions)
{
    const char *name = in->view.node->head.key;
    const char *problem = in->pods->removal.problem;
    int64_t left = left_s(in);
    if (str_eq(in->pods->removal.ready, hash))
        return (struct removal_step){
            .left = without_stack(in),
            .reason = REASON_RUNTIME_CLEANED,
            .message = arena_printf(a,
                                    "node %s: the toolkit is removed from the configuration of its "
                                    "container runtime",
                                    name)
        };
    if (!in->record(in->arg, TIER_STACK, hash))
        return toolkit_removal_give_up(in, a, "Ostler has no record of how it was installed");
    if (left <= 0 || (in->force_removal && problem))
        return toolkit_removal_give_up(in, a, problem ? problem : "its removal took too long");
    if (in->view.node->ready)
        actions_requeue(actions, left * 1000);
    return (struct removal_step){
        .left = without_stack(in),
        .removal = hash,
        .reason = REASON_WAITING_FOR_RUNTIME,
        .message = arena_printf(
            a,
            "node %s: the toolkit is being removed from the configuration of its "
            "container runtime%s%s",
            name, problem ? ": " : "", str_or_empty(problem))
    };
}

struct removal_step toolkit_removal_step(const struct node_input *in, struct arena *a,
                                         struct actions *actions)
{
    const char *removal = node_label(&in->view, LABEL_REMOVAL), *stack = stack_of(in, a);
    if (removal && !stack)
        return toolkit_removal_await(in, a, removal, actions);
    if (!stack || !has_configured(in, stack))
        return node_removal_step(in, a);
    return (struct removal_step){
        .left = without_stack(in),
        .removal = stack,
        .reason = REASON_REMOVING_STACK,
        .message = "Ostler removes toolkit, device plugin and exporter from the node"
    };
}
