#include "reconcilers/plan/node_steps.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/plan/holders.h"

/* Whether any pod of the stack or of its followers, or one that comes before or after it, is still on the node. */
static bool has_stack_pods(const struct node_pods *p)
{
    for (int c = COMPONENT_TOOLKIT; c <= COMPONENT_EXPORTER; c++)
        if (p->of[c].present)
            return true;
    return p->proof || p->removal.present;
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

/* What is open on the host is of the host's own driver where it has one. */
static bool runs_our_driver(const struct node_pods *p)
{
    return p->of[COMPONENT_DRIVER].present && !p->host_driver;
}

struct off node_take_off(const struct node_input *in, struct arena *a)
{
    const struct node_pods *p = in->pods;
    const char *driver = node_label(&in->view, LABEL_DRIVER);
    const char *name = in->view.node->head.key;
    if (node_label(&in->view, LABEL_STACK))
        return (struct off){ .driver = driver, .reason = REASON_REMOVING_STACK,
                             .message = "Ostler removes toolkit, device plugin and exporter from the node" };
    if (has_stack_pods(p))
        return (struct off){ .driver = driver, .reason = REASON_WAITING_FOR_STACK,
                             .message = arena_printf(a, "node %s: pods of toolkit and device plugin are terminating", name) };
    if (driver && p->gpu_pods && !in->force_removal)
        return (struct off){ .driver = driver, .reason = REASON_WAITING_FOR_GPU_PODS,
                             .message = arena_printf(a, "node %s: %s still running; Ostler removes the driver when none is left",
                                                     name, name_gpu_pods(a, p)) };
    if (driver && in->holders && in->holders->host_count && !in->force_removal && runs_our_driver(p))
        return (struct off){ .driver = driver, .reason = REASON_WAITING_FOR_PROCESSES,
                             .message = arena_printf(a, "node %s waits for %s; Ostler removes the driver after that", name,
                                                     holders_hosts_text(in->holders->hosts, in->holders->host_count, a)) };
    if (driver)
        return (struct off){ .reason = REASON_REMOVING_DRIVER, .look = !in->force_removal,
                             .message = p->gpu_pods ? "the wait for GPU pods is skipped: Ostler removes the driver"
                                                    : "no GPU pod runs on the node: Ostler removes the driver" };
    if (p->of[COMPONENT_DRIVER].present)
        return (struct off){ .reason = REASON_WAITING_FOR_DRIVER,
                             .message = arena_printf(a, "node %s: the driver pod is terminating", name) };
    return (struct off){ .done = true };
}

/* What the node keeps of one tier: the revision that its label names, or where somebody took that off or wrote nonsense, the one
 * that runs; while it is known and fits the host (a host that changed counts as new, once no GPU pod runs there). NULL: it gets
 * the target. */
static const char *kept(const struct node_input *in, const char *tier, const char *label, const char *running,
                        const json_t *target_inputs)
{
    const char *const candidates[] = { label, running };
    for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
        const json_t *inputs = candidates[i] ? in->record(in->arg, tier, candidates[i]) : NULL;
        if (inputs)
            return in->pods->gpu_pods || !target_inputs || revision_same_host(inputs, target_inputs) ? candidates[i] : NULL;
    }
    /* Its record is lost; what runs of it stays. */
    return str_eq(label, running) ? label : NULL;
}

static const char *running_driver(const struct node_pods *p)
{
    return p->of[COMPONENT_DRIVER].revision;
}

static const char *running_stack(const struct node_pods *p)
{
    const char *plugin = p->of[COMPONENT_DEVICE_PLUGIN].revision;
    return plugin ? plugin : p->of[COMPONENT_TOOLKIT].revision;
}

/* A revision that no node carried may be on its way out, its record too. */
static bool lacks_record(const struct node_input *in, const char *tier, const char *wanted, const char *now)
{
    return wanted && *wanted && !str_eq(wanted, now) && (in->deleting || !in->record(in->arg, tier, wanted));
}

static bool is_other(const struct node_pods *p, enum component c, const char *wanted)
{
    return p->of[c].present && !str_eq(p->of[c].revision, wanted);
}

/* Whether a driver is still there that has to leave before `wanted` (NULL: none) can come: no two drivers are ever on one node,
 * and none goes from under a GPU pod. One that never ran, since its init container found the host's own, is used by nobody. */
static bool driver_leaves_first(const struct node_pods *p, const char *label, const char *wanted)
{
    if ((wanted && str_eq(wanted, label)) || p->host_driver)
        return false;
    if (p->of[COMPONENT_DRIVER].present)
        return is_other(p, COMPONENT_DRIVER, wanted);
    return label && (!wanted || p->gpu_pods);
}

static bool stack_leaves_first(const struct node_pods *p, const char *label, const char *wanted)
{
    return !str_eq(wanted, label) &&
           (is_other(p, COMPONENT_TOOLKIT, wanted) || is_other(p, COMPONENT_DEVICE_PLUGIN, wanted) || p->removal.present);
}

/* Whether what the node bears would put Ostler's toolkit over what the host has, of which the agent spoke a moment too late. */
static bool overwrites_hosts(const struct node_input *in, const struct target *t, const char *stack)
{
    return stack && t->reason == REASON_HOST_TOOLKIT_MISSING &&
           json_bool(in->record(in->arg, "stack", stack), "toolkit.enabled", false);
}

/* What a tier gets where it keeps nothing; nothing of a target whose driver has no image. */
static const char *comes(const struct target *t, const char *hash)
{
    return *hash && !t->no_image ? hash : NULL;
}

/* The first toolkit of a pool comes in turn (toolkit_turns.h). */
static bool waits_for_turn(const struct node_input *in, const struct target *t, const char *keeps, const char *comes)
{
    return !keeps && comes && t->toolkit_in_turn && !in->toolkit_turn;
}

struct assignment node_assign(const struct node_input *in, struct arena *a, const struct target *t, bool host_driver_found)
{
    const char *driver = node_label(&in->view, LABEL_DRIVER), *stack = node_label(&in->view, LABEL_STACK);
    struct assignment as = { .reason = REASON_GPU_DETECTED, .message = "the node has a GPU" };
    const char *keep =
        t->source == DRIVER_SOURCE_HOST ? NULL : kept(in, "driver", driver, running_driver(in->pods), t->driver_inputs);
    as.driver = keep ? keep : comes(t, t->driver);
    keep = overwrites_hosts(in, t, stack) ? NULL : kept(in, "stack", stack, running_stack(in->pods), t->stack_inputs);
    as.stack = keep ? keep : comes(t, t->stack);
    as.first = waits_for_turn(in, t, keep, as.stack);
    as.stack = as.first ? NULL : as.stack;
    if (driver_leaves_first(in->pods, driver, as.driver) || stack_leaves_first(in->pods, stack, as.stack)) {
        struct off off = node_take_off(in, a);
        return (struct assignment){ .driver = off.driver, .stack = off.stack, .reason = off.reason, .message = off.message,
                                    .look = off.look, .waiting = true };
    }
    as.record_missing = lacks_record(in, "driver", as.driver, driver) || lacks_record(in, "stack", as.stack, stack);
    if (host_driver_found) {
        as.reason = REASON_HOST_DRIVER;
        as.message = "the host has a driver of its own: Ostler installs none";
    } else if (!str_eq(as.driver, driver) || !str_eq(as.stack, stack)) {
        as.reason = REASON_ASSIGNED;
        as.message = arena_printf(a, "driver revision %s, stack revision %s", as.driver ? as.driver : "none",
                                  as.stack ? as.stack : "none");
    }
    return as;
}
