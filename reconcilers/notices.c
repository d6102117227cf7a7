#include "reconcilers/notices.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/plan/task_pod.h"
#include "reconcilers/plan/toolkit_removal.h"

/* States that a person should hear of when they are entered, on nodes that no upgrade is about. */
static const struct {
    enum node_state state;
    const char *reason; /* only with this one; NULL: any */
    bool warning;
    bool each_reason;   /* another reason in the same state is news too */
} states[] = {
    { NODE_READY, NULL, false, false },
    { NODE_FAILED, NULL, true, false }, /* reasons alternate: pulling, backing off, pulling */
    { NODE_FOREIGN, NULL, false, true },
    { NODE_UNSUPPORTED, NULL, true, true },
    { NODE_REMOVING, "WaitingForGpuPods", false, true },
    { NODE_INSTALLING, "WaitingForGpuPods", false, true },
};

/* Writes of nodes that a person should hear of when the server has taken them. They are made once, also by an Ostler that was
 * started in between. */
static const struct {
    const char *reason;
    bool warning;
} writes[] = {
    { "Claimed", false },  { "ClaimedWaiting", false }, { "DrainBegins", false },   { "Drained", false },
    { "Upgraded", false }, { "CameUp", false },         { "UpgradeFailed", true },  { "TriedAgain", false },
    { "CalledBack", false }, { "GivenUp", false },      { "ClaimOfAnother", true }, { "TargetChanged", false },
    { "JobCame", false }, { "ReturnedToService", false }, { REASON_RUNTIME_STAYS, true },
};

static void add(const struct node_slot *slot, bool warning, const char *reason, const char *note, size_t of_action,
                struct plan *plan)
{
    plan_notice(plan,
                &(struct notice){ .resource = RESOURCE_NODE, .name = slot->name, .uid = slot->node->head.uid, .warning = warning,
                                  .reason = reason, .action = "Reconcile", .note = (char *) note, .of_action = of_action });
}

static void add_write(const struct node_slot *slot, size_t action, struct plan *plan)
{
    const struct action *a = &plan->actions[action];
    for (size_t i = 0; i < ARRAY_LEN(writes); i++)
        if (str_eq(writes[i].reason, a->reason))
            add(slot, writes[i].warning, a->reason, a->message, action + 1, plan);
}

void notice_write(const struct node_slot *slot, struct plan *plan)
{
    add_write(slot, plan->len - 1, plan);
}

/* Owned by the caller. */
static char *state_note(const struct node_verdict *v)
{
    const char *message = v->message ? v->message : NODE_READY_MESSAGE;
    bool by_pod = v->state == NODE_FAILED && v->pod && !strstr(message, v->pod);
    return by_pod ? xasprintf("%s, pod %s", message, v->pod) : xstrdup(message);
}

static void add_state(const struct node_slot *slot, const struct node_verdict *v, struct plan *plan)
{
    /* After a start nothing is known of before: only what leads to a write is news then. */
    const struct node_summary *before = &slot->summary;
    if (!before->counted && plan->len == 0)
        return;
    CLEANUP_FREE char *note = state_note(v);
    bool same_state = before->counted && before->state == v->state;
    bool same_reason = same_state && str_eq(before->cause ? before->cause->reason : NULL, v->reason);
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        bool fits = states[i].state == v->state && (!states[i].reason || str_eq(states[i].reason, v->reason));
        if (fits && !(states[i].each_reason ? same_reason : same_state))
            add(slot, states[i].warning, v->state == NODE_READY ? "GpuReady" : v->reason, note, 0, plan);
    }
}

/* That a node is drained is no news where nobody had to leave. */
static bool is_news(const struct node_summary *before, const struct action *a)
{
    return !str_eq(a->reason, "Drained") || !before->counted || before->state == NODE_DRAINING;
}

void notice_node(const struct node_slot *slot, const struct node_verdict *v, struct plan *plan)
{
    const struct node_summary *before = &slot->summary;
    bool upgraded = before->counted && (before->moving || before->failed);
    size_t writes_len = plan->len;
    for (size_t i = 0; i < writes_len; i++)
        if (plan->actions[i].request.resource == RESOURCE_NODE && is_news(before, &plan->actions[i]))
            add_write(slot, i, plan);
    if (!upgraded && !v->failed_with)
        add_state(slot, v, plan);
}

void notice_images(struct node_slot *slot, const struct images *images, bool known, struct plan *plan)
{
    const char *image = images->state == IMAGES_MISSING ? images->image : NULL;
    uint64_t told = slot->told_image;
    if (images->state == IMAGES_READY)
        slot->told_image = 0;
    if (!image)
        return;
    slot->told_image = str_hash(image, strlen(image));
    if (!known || slot->told_image == told)
        return;
    const struct pod *pod = task_pod_find(slot->pods, TASK_PULL);
    CLEANUP_FREE char *note =
        xasprintf("the node cannot get the image %s: %s; the kubelet keeps trying (pod %s), and the node stays in service "
                  "unchanged",
                  image, images->words, pod ? pod->head.key : "?");
    add(slot, true, "CannotBePulled", note, 0, plan);
}

void notice_skipped(const struct node_slot *slot, const char *why, struct plan *plan)
{
    CLEANUP_FREE char *note = xasprintf("the rollout skips the node: %s", why);
    add(slot, false, "Skipped", note, 0, plan);
}
