#include "reconcilers/decide/node_steps.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/holders.h"
#include "reconcilers/decide/node_operands.h"

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

struct removal_step node_removal_step(const struct node_input *in, struct arena *a)
{
    const struct node_pods *p = in->pods;
    struct assignment_ref driver = assignment_before(node_assigned(&in->view), TIER_STACK);
    bool has_driver = driver.hash[TIER_DRIVER];
    const char *name = in->view.node->head.key;
    if (node_label(&in->view, LABEL_STACK))
        return (struct removal_step){
            .left = driver,
            .reason = REASON_REMOVING_STACK,
            .message = "Ostler removes toolkit, device plugin and exporter from the node"
        };
    if (has_stack_pods(p))
        return (struct removal_step){
            .left = driver,
            .reason = REASON_WAITING_FOR_STACK,
            .message = arena_printf(a, "node %s: pods of toolkit and device plugin are terminating",
                                    name)
        };
    if (has_driver && p->gpu_pods && !in->force_removal)
        return (struct removal_step){
            .left = driver,
            .reason = REASON_WAITING_FOR_GPU_PODS,
            .message = arena_printf(
                a, "node %s: %s still running; Ostler removes the driver when none is left", name,
                name_gpu_pods(a, p))
        };
    if (has_driver && in->holders && in->holders->host_count && !in->force_removal &&
        runs_our_driver(p))
        return (struct removal_step){
            .left = driver,
            .reason = REASON_WAITING_FOR_PROCESSES,
            .message = arena_printf(
                a, "node %s waits for %s; Ostler removes the driver after that", name,
                holders_hosts_text(in->holders->hosts, in->holders->host_count, a))
        };
    if (has_driver)
        return (struct removal_step){
            .reason = REASON_REMOVING_DRIVER,
            .look = !in->force_removal,
            .message = p->gpu_pods ? "the wait for GPU pods is skipped: Ostler removes the driver"
                                   : "no GPU pod runs on the node: Ostler removes the driver"
        };
    if (p->of[OPERAND_DRIVER].present)
        return (struct removal_step){ .reason = REASON_WAITING_FOR_DRIVER,
                                      .message = arena_printf(
                                          a, "node %s: the driver pod is terminating", name) };
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

struct node_assignment node_assign(const struct node_input *in, struct arena *a,
                                   const struct target *t, bool host_driver_found)
{
    struct assignment_ref now = node_assigned(&in->view);
    struct node_assignment as = { .reason = REASON_GPU_DETECTED, .message = "the node has a GPU" };
    node_steps_choose(in, t, &as);
    if (driver_leaves_first(in->pods, now.hash[TIER_DRIVER], as.to.hash[TIER_DRIVER]) ||
        stack_leaves_first(in->pods, now.hash[TIER_STACK], as.to.hash[TIER_STACK])) {
        struct removal_step off = node_removal_step(in, a);
        return (struct node_assignment){ .to = off.left,
                                         .reason = off.reason,
                                         .message = off.message,
                                         .look = off.look,
                                         .waiting = true };
    }
    as.record_missing = !operands_recorded(in, as.to);
    if (host_driver_found) {
        as.reason = REASON_HOST_DRIVER;
        as.message = "the host has a driver of its own: Ostler installs none";
    } else if (!assignment_same(as.to, now)) {
        as.reason = REASON_ASSIGNED;
        as.message = describe(a, as.to);
    }
    return as;
}
