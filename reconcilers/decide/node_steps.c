#include "reconcilers/decide/node_steps.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/holders.h"
#include "reconcilers/decide/node_operands.h"

/* The image is usually there, and two restarts of a runtime take half a minute. Helm waits five
 * minutes for the hook that removes everything, and the driver is removed after this. */
enum { REMOVAL_MAX_S = 180 };

/* Whether any pod of the stack, its followers or its helpers is still on the node. */
static bool has_stack_pods(const struct node_pods *p)
{
    return operands_present(p, operands_with_stack()) || p->proof || p->removal.present;
}

/* "3 pods (a/x, b/y, …)" */
static const char *name_gpu_pods(struct arena *a, const struct node_pods *p)
{
    const char *names = p->gpu_pod[0];
    for (size_t i = 1; i < p->gpu_pods && i < GPU_PODS_NAMED; i++)
        names = arena_printf(a, "%s, %s", names, p->gpu_pod[i]);
    return arena_printf(a, "%zu GPU pod%s (%s%s)", p->gpu_pods, p->gpu_pods == 1 ? "" : "s", names,
                        p->gpu_pods > GPU_PODS_NAMED ? ", …" : "");
}

/* If the host has its own driver, open devices belong to that driver. */
static bool runs_our_driver(const struct node_pods *p)
{
    return p->of[OPERAND_DRIVER].present && !p->host_driver;
}

static struct assignment_ref without_stack(const struct node_pass *p)
{
    return assignment_before(node_assigned(&p->in->view), TIER_STACK);
}

/* A step that leaves all labels but the stack's. The message is formatted after "node NAME". */
PRINTF(3, 4)
static struct removal_step removal_stage(const struct node_pass *p, enum reason reason,
                                         const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *message = arena_vprintf(p->a, fmt, ap);
    va_end(ap);
    message = arena_printf(p->a, "node %s%s", p->in->view.node->head.key, message);
    return (struct removal_step){ .left = without_stack(p), .reason = reason, .message = message };
}

/* The first step: everything but the driver goes. */
static struct removal_step removal_of_stack(const struct node_pass *p)
{
    return (struct removal_step){
        .left = without_stack(p),
        .reason = REASON_REMOVING_STACK,
        .message = "Ostler removes toolkit, device plugin and exporter from the node"
    };
}

/* From a node without a stack. */
static struct removal_step remove_driver(const struct node_pass *p)
{
    const struct node_pods *pods = p->in->pods;
    const struct node_holders *h = p->in->holders;
    bool force = p->in->force_removal;
    if (pods->gpu_pods && !force)
        return removal_stage(p, REASON_WAITING_FOR_GPU_PODS,
                             ": %s still running; Ostler removes the driver when none is left",
                             name_gpu_pods(p->a, pods));
    if (h && h->host_count && !force && runs_our_driver(pods))
        return removal_stage(p, REASON_WAITING_FOR_PROCESSES,
                             " waits for %s; Ostler removes the driver after that",
                             holders_hosts_text(h->hosts, h->host_count, p->a));
    return (struct removal_step){
        .reason = REASON_REMOVING_DRIVER,
        .look = !force,
        .message = pods->gpu_pods ? "the wait for GPU pods is skipped: Ostler removes the driver"
                                  : "no GPU pod runs on the node: Ostler removes the driver"
    };
}

/* The next removal step; if none is left, `done`. */
static struct removal_step node_removal_step(const struct node_pass *p)
{
    const struct node_view *view = &p->in->view;
    if (node_label(view, LABEL_STACK))
        return removal_of_stack(p);
    if (has_stack_pods(p->in->pods))
        return removal_stage(p, REASON_WAITING_FOR_STACK,
                             ": pods of toolkit and device plugin are terminating");
    if (node_label(view, LABEL_DRIVER))
        return remove_driver(p);
    if (p->in->pods->of[OPERAND_DRIVER].present)
        return removal_stage(p, REASON_WAITING_FOR_DRIVER, ": the driver pod is terminating");
    return (struct removal_step){ .done = true };
}

/* The revision of a tier that runs: that of the last operand, in start order, that has a pod; NULL:
 * none. */
static const char *running(const struct node_pods *p, enum tier tier)
{
    const char *revision = NULL;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if ((operands_of_tier(tier) >> o->id & 1) && p->of[o->id].revision)
            revision = p->of[o->id].revision;
    return revision;
}

/* Whether the node's stack would replace the host's toolkit, which the agent reported a moment too
 * late. */
static bool overwrites_hosts(const struct node_input *in, const struct target *t, const char *stack)
{
    return stack && t->reason == REASON_HOST_TOOLKIT_MISSING &&
           json_bool(in->record(in->arg, TIER_STACK, stack), "toolkit.enabled", false);
}

/* What the node keeps of one tier: the revision of its label. If a user removed or broke the label,
 * the revision that runs. Its record must exist and fit the host; a host that changed counts as new
 * once no GPU pod runs there. NULL: the node gets the target. */
static const char *kept(const struct node_input *in, const struct target *t, enum tier tier)
{
    const char *label = node_label(&in->view, tiers[tier].label);
    const char *const candidates[] = { label, running(in->pods, tier) };
    if (tier == TIER_DRIVER ? t->source == DRIVER_SOURCE_HOST : overwrites_hosts(in, t, label))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
        const json_t *inputs = candidates[i] ? in->record(in->arg, tier, candidates[i]) : NULL;
        if (inputs)
            return in->pods->gpu_pods || !t->inputs[tier] ||
                           revision_same_host(inputs, t->inputs[tier])
                       ? candidates[i]
                       : NULL;
    }
    /* Its record is lost: what runs stays. */
    return str_eq(label, candidates[1]) ? label : NULL;
}

static bool has_others(const struct node_pods *p, enum tier tier, const char *wanted)
{
    unsigned set = operands_of_tier(tier);
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if ((set >> o->id & 1) && p->of[o->id].present && !str_eq(p->of[o->id].revision, wanted))
            return true;
    return false;
}

/* Whether a driver must leave before `wanted` (NULL: none) can be installed. A node never has two
 * drivers, and no driver is removed under a GPU pod. A driver that never ran, because its init
 * container found the host's own, has no users. */
static bool driver_leaves_first(const struct node_pods *p, const char *label, const char *wanted)
{
    if ((wanted && str_eq(wanted, label)) || p->host_driver)
        return false;
    if (p->of[OPERAND_DRIVER].present)
        return has_others(p, TIER_DRIVER, wanted);
    return label && (!wanted || p->gpu_pods);
}

static bool stack_leaves_first(const struct node_pods *p, const char *label, const char *wanted)
{
    return !str_eq(wanted, label) && (has_others(p, TIER_STACK, wanted) || p->removal.present);
}

/* For each tier, what the node keeps, else the target; nothing of a target whose driver has no
 * image. The first toolkit of a pool comes in turn (toolkit_turns.h). */
static void node_steps_choose(const struct node_input *in, const struct target *t,
                              struct node_assignment *ret)
{
    for (enum tier tier = 0; tier < TIERS; tier++) {
        const char *keeps = kept(in, t, tier);
        bool comes = !keeps && *t->runs.hash[tier] && !t->no_image;
        bool waits = comes && tier == TIER_STACK && t->toolkit_in_turn && !in->toolkit_turn;
        ret->to.hash[tier] = comes && !waits ? t->runs.hash[tier] : keeps;
        ret->first |= waits;
    }
}

/* "driver revision 0bcdfghjkl, stack revision none" */
static const char *describe(struct arena *a, struct assignment_ref to)
{
    const char *text = "";
    for (enum tier t = 0; t < TIERS; t++)
        text = arena_printf(a, "%s%s%s revision %s", text, *text ? ", " : "", tiers[t].name,
                            to.hash[t] ? to.hash[t] : "none");
    return text;
}

struct node_assignment node_assign(const struct node_pass *p, const struct target *t,
                                   bool host_driver_found)
{
    const struct node_input *in = p->in;
    struct assignment_ref now = node_assigned(&in->view);
    struct node_assignment as = { .reason = REASON_GPU_DETECTED, .message = "the node has a GPU" };
    node_steps_choose(in, t, &as);
    if (driver_leaves_first(in->pods, now.hash[TIER_DRIVER], as.to.hash[TIER_DRIVER]) ||
        stack_leaves_first(in->pods, now.hash[TIER_STACK], as.to.hash[TIER_STACK])) {
        struct removal_step off = node_removal_step(p);
        return (struct node_assignment){ off.left, off.reason, off.message, .look = off.look,
                                         .waiting = true };
    }
    as.record_missing = !operands_recorded(in, as.to);
    if (host_driver_found) {
        as.reason = REASON_HOST_DRIVER;
        as.message = "the host has a driver of its own: Ostler installs none";
    } else if (!assignment_same(as.to, now)) {
        as.reason = REASON_ASSIGNED;
        as.message = describe(p->a, as.to);
    }
    return as;
}

/* ---- removal of the toolkit's changes to the container runtime */

/* k3s and RKE2 write the runtime's configuration themselves at each start, while they find the
 * toolkit's directory. */
static bool configures_itself(const json_t *stack)
{
    static const enum host_distribution ones[] = { DISTRIBUTION_K3S, DISTRIBUTION_RKE2 };
    for (size_t i = 0; i < ARRAY_LEN(ones); i++)
        if (str_eq(json_str(stack, "distribution"), host_distributions[ones[i]].name))
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

static struct removal_step toolkit_removal_give_up(const struct node_pass *p, const char *why)
{
    return removal_stage(
        p, REASON_RUNTIME_NOT_CLEANED,
        ": the configuration of its container runtime still names NVIDIA's toolkit: %s", why);
}

static struct removal_step toolkit_removal_await(const struct node_pass *p, const char *hash)
{
    const char *problem = p->in->pods->removal.problem;
    int64_t left = left_s(p->in);
    if (str_eq(p->in->pods->removal.ready, hash))
        return removal_stage(
            p, REASON_RUNTIME_CLEANED,
            ": the toolkit is removed from the configuration of its container runtime");
    if (!p->in->record(p->in->arg, TIER_STACK, hash))
        return toolkit_removal_give_up(p, "Ostler has no record of how it was installed");
    if (left <= 0 || (p->in->force_removal && problem))
        return toolkit_removal_give_up(p, problem ? problem : "its removal took too long");
    if (p->in->view.node->ready)
        actions_requeue(p->actions, left * 1000);
    struct removal_step off = removal_stage(
        p, REASON_WAITING_FOR_RUNTIME,
        ": the toolkit is being removed from the configuration of its container runtime%s%s",
        problem ? ": " : "", str_or_empty(problem));
    off.removal = hash;
    return off;
}

struct removal_step toolkit_removal_step(const struct node_pass *p)
{
    const char *removal = node_label(&p->in->view, LABEL_REMOVAL), *stack = stack_of(p->in, p->a);
    if (removal && !stack)
        return toolkit_removal_await(p, removal);
    if (!stack || !has_configured(p->in, stack))
        return node_removal_step(p);
    struct removal_step off = removal_of_stack(p);
    off.removal = stack;
    return off;
}
