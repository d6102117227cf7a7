#include "reconcilers/decide/fault_notices.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/health_report.h"
#include "reconcilers/decide/health_state.h"
#include "reconcilers/model/names.h"

/* The number of the node's write in the plan; 0: it has none. */
static size_t write_of(const struct actions *actions)
{
    for (size_t i = 0; i < actions->len; i++)
        if (actions->items[i].request.resource == RESOURCE_NODE && !actions->items[i].request.looks)
            return i + 1;
    return 0;
}

static bool has_taint(const struct node_view *view)
{
    return strstr(str_or_empty(intern_text(view->strings, view->node->taints)),
                  "\"" TAINT_UNHEALTHY "\"") != NULL;
}

static const char *name_of(const char *reason, const char *address, struct arena *a)
{
    return *address ? arena_printf(a, "%s of GPU %s", reason, address) : reason;
}

static const char *closed_note(const struct node_input *in, struct arena *a)
{
    static const struct health_handling none = { 0 };
    const struct health_status *h = in->health ? health_report(in->health, &none, a) : NULL;
    return arena_printf(a,
                        "closed for new pods, with the taint " TAINT_UNHEALTHY
                        ", because of the fault %s; running pods stay",
                        h ? name_of(h->reason, h->address, a) : "of its GPUs");
}

/* Why a node opens whose fault may be there still. NULL: it has ended. */
static const char *why_open(const struct node_input *in)
{
    if (!has_taint(&in->view))
        return "a user removed the taint " TAINT_UNHEALTHY
               ", and Ostler does nothing more about the fault";
    if (!in->health_spec || in->health_spec->mode == HEALTH_MODE_OBSERVE)
        return "spec.health.mode is Observe, so Ostler only reports the fault";
    if (node_ignores_faults(&in->view))
        return "because of the label " LABEL_HEALTH "=" HEALTH_IGNORE
               " Ostler does nothing about the fault";
    if (in->health && health_level_of(in->health) >= HEALTH_CLOSE)
        return "the device plugin keeps pods off the GPU with the fault";
    return NULL;
}

static const char *opened_note(const struct node_input *in, const struct fault_record *was,
                               struct arena *a)
{
    const char *fault = name_of(was->reason, was->address, a), *why = why_open(in);
    return why ? arena_printf(a, "open for new pods: %s %s", why, fault)
               : arena_printf(a, "open for new pods: the fault %s has ended", fault);
}

static void fault_notices_add(const struct record *head, enum resource_id resource, bool closes,
                              const char *note, size_t write, struct actions *actions)
{
    enum reason reason = closes ? REASON_GPU_CLOSED : REASON_GPU_OPENED;
    actions_add_notice(actions, &(struct notice){ .resource = resource,
                                                  .name = head->key,
                                                  .uid = (char *) RECORD_UID(head),
                                                  .warning = closes,
                                                  .share = EVENTS_OF_FAULTS,
                                                  .reason = reason_text(reason),
                                                  .action = "Reconcile",
                                                  .note = (char *) note,
                                                  .of_action = write });
}

void fault_notices(const struct node_input *in, const struct node_verdict *v,
                   const struct gpu_node *report, struct actions *actions)
{
    struct health_handling before = { 0 };
    fault_record_of(&in->view, &before.record);
    bool was = fault_state_closes(before.record.state) && before.record.tainted;
    size_t write = write_of(actions);
    if (was == v->unhealthy || !write || !node_state_served(v->state))
        return;
    CLEANUP_ARENA struct arena a = { 0 };
    const char *note = was ? opened_note(in, &before.record, &a) : closed_note(in, &a);
    fault_notices_add(&in->view.node->head, RESOURCE_NODE, !was, note, write, actions);
    if (report)
        fault_notices_add(&report->head, RESOURCE_GPU_NODE, !was, note, write, actions);
}
