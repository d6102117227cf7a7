#include "reconcilers/notices.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/repair_request.h"
#include "reconcilers/decide/task_pod.h"

/* States for which users get an Event when a node enters them outside an upgrade. */
static const struct {
    enum node_state state;
    enum reason reason; /* only with this reason; NONE: any */
    bool warning;
    bool each_reason; /* another reason in the same state is another Event */
} states[] = {
    { NODE_READY, REASON_NONE, false, false },
    { NODE_FAILED, REASON_NONE, true, false }, /* reasons alternate: pulling, backing off */
    { NODE_FOREIGN, REASON_NONE, false, true },
    { NODE_UNSUPPORTED, REASON_NONE, true, true },
    { NODE_REMOVING, REASON_WAITING_FOR_GPU_PODS, false, true },
    { NODE_INSTALLING, REASON_WAITING_FOR_GPU_PODS, false, true },
};

/* Writes that cause an Event when the API server has accepted them. They happen once, even across a
 * restart. */
static const struct {
    enum reason reason;
    enum event_share share;
} writes[] = {
    { REASON_CLAIMED, EVENTS_OF_NODES },
    { REASON_CLAIMED_WAITING, EVENTS_OF_NODES },
    { REASON_DRAIN_STARTED, EVENTS_OF_NODES },
    { REASON_DRAINED, EVENTS_OF_NODES },
    { REASON_UPGRADED, EVENTS_OF_NODES },
    { REASON_RECOVERED, EVENTS_OF_NODES },
    { REASON_UPGRADE_FAILED, EVENTS_OF_NODES },
    { REASON_RETRIED, EVENTS_OF_NODES },
    { REASON_ROLLED_BACK, EVENTS_OF_NODES },
    { REASON_CANCELLED, EVENTS_OF_NODES },
    { REASON_ABANDONED, EVENTS_OF_NODES },
    { REASON_POLICY_GONE, EVENTS_OF_NODES },
    { REASON_TARGET_CHANGED, EVENTS_OF_NODES },
    { REASON_JOB_ARRIVED, EVENTS_OF_NODES },
    { REASON_RUNTIME_NOT_CLEANED, EVENTS_OF_NODES },
    { REASON_RETURNED_TO_SERVICE, EVENTS_OF_NODES },
    { REASON_GPU_WITHHELD, EVENTS_OF_FAULTS },
    { REASON_LEFT_OPEN, EVENTS_OF_FAULTS },
    { REASON_FAULT_IGNORED, EVENTS_OF_FAULTS },
    { REASON_FAULT_ENDED, EVENTS_OF_FAULTS },
};

/* Adds an Event about the node. The caller fills what it says, and its share. */
static void notices_add(const struct node_slot *slot, struct notice n, struct actions *actions)
{
    n.resource = RESOURCE_NODE;
    n.name = slot->name;
    n.uid = (char *) RECORD_UID(&slot->node->head);
    n.action = "Reconcile";
    actions_add_notice(actions, &n);
}

static void add_warning(const struct node_slot *slot, enum reason reason, const char *note,
                        struct actions *actions)
{
    notices_add(
        slot,
        (struct notice){ .warning = true, .reason = reason_text(reason), .note = (char *) note },
        actions);
}

static void add_write(const struct node_slot *slot, size_t action, struct actions *actions)
{
    const struct action *a = &actions->items[action];
    for (size_t i = 0; i < ARRAY_LEN(writes); i++)
        if (writes[i].reason == action_reason(a))
            notices_add(slot,
                        (struct notice){ .share = writes[i].share,
                                         .warning = reason_class(writes[i].reason) == REASON_WRONG,
                                         .reason = a->reason,
                                         .note = a->message,
                                         .of_action = action + 1 },
                        actions);
}

void notice_write(const struct node_slot *slot, struct actions *actions)
{
    add_write(slot, actions->len - 1, actions);
}

/* Owned by the caller. */
static char *state_note(const struct node_verdict *v)
{
    const char *message = v->message ? v->message : NODE_READY_MESSAGE;
    bool by_pod = v->state == NODE_FAILED && v->pod && !strstr(message, v->pod);
    return by_pod ? xasprintf("%s, pod %s", message, v->pod) : xstrdup(message);
}

/* Whether entering a state is no news: that a node opens which a fault closed has its own Event
 * (decide/fault_notices.h). */
static bool is_as_before(enum node_state before, enum node_state after)
{
    return before == after || (before == NODE_UNHEALTHY && after == NODE_READY);
}

static void add_state(const struct node_slot *slot, const struct node_verdict *v,
                      struct actions *actions)
{
    /* After a start the earlier state is not known, so only what leads to a write is new. */
    const struct node_summary *before = &slot->summary;
    if (!before->counted && actions->len == 0)
        return;
    CLEANUP_FREE char *note = state_note(v);
    bool same_state = before->counted && is_as_before(before->state, v->state);
    bool same_reason = same_state &&
                       str_eq(before->cause ? before->cause->word : "", verdict_word(v));
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        bool fits = states[i].state == v->state &&
                    (!states[i].reason || states[i].reason == v->reason);
        if (fits && !(states[i].each_reason ? same_reason : same_state))
            notices_add(slot,
                        (struct notice){ .warning = states[i].warning,
                                         .reason = v->state == NODE_READY
                                                       ? reason_text(REASON_GPU_READY)
                                                       : verdict_word(v),
                                         .note = note },
                        actions);
    }
}

/* A request that Ostler ignores: once, and again for another reason. */
static void add_refusal(const struct node_slot *slot, const struct node_verdict *v,
                        struct actions *actions)
{
    bool news = slot->summary.counted && slot->summary.refusal != v->refusal;
    if (news && v->refusal != REPAIR_TAKEN)
        add_warning(slot, REASON_REPAIR_IGNORED, repair_request_text(v->refusal), actions);
}

/* A completed drain is no Event if no pod had to leave. */
static bool notices_is_news(const struct node_summary *before, const struct action *a)
{
    return action_reason(a) != REASON_DRAINED || !before->counted || before->state == NODE_DRAINING;
}

void notice_node(const struct node_slot *slot, const struct node_verdict *v,
                 struct actions *actions)
{
    const struct node_summary *before = &slot->summary;
    bool upgraded = before->counted && (before->moving || before->failed);
    size_t writes_len = actions->len;
    for (size_t i = 0; i < writes_len; i++)
        if (actions->items[i].request.resource == RESOURCE_NODE &&
            notices_is_news(before, &actions->items[i]))
            add_write(slot, i, actions);
    if (!upgraded && !v->failed_with)
        add_state(slot, v, actions);
    add_refusal(slot, v, actions);
}

void notice_images(struct node_slot *slot, const struct images *images, bool known,
                   struct actions *actions)
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
    CLEANUP_FREE char *note = xasprintf("the node cannot get the image %s: %s; the kubelet keeps "
                                        "trying (pod %s), and the node stays in service "
                                        "unchanged",
                                        image, images->words, pod ? pod->head.key : "?");
    add_warning(slot, REASON_IMAGE_PULL_FAILED, note, actions);
}

void notice_skipped(const struct node_slot *slot, const char *why, struct actions *actions)
{
    CLEANUP_FREE char *note = xasprintf("the rollout skips the node: %s", why);
    notices_add(slot, (struct notice){ .reason = reason_text(REASON_SKIPPED), .note = note },
                actions);
}

void notice_black_hole(const struct node_slot *slot, enum black_hole_step step, int64_t now_s,
                       struct actions *actions)
{
    bool asks = step == BLACK_HOLE_ASKED;
    if ((!asks && step != BLACK_HOLE_TOLD) || black_hole_is_proving(slot->hole, now_s))
        return;
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_FREE char *note = xasprintf("%s: %s", black_hole_text(slot->hole, now_s, &a),
                                        asks ? "Ostler runs a CUDA program on a GPU of the node"
                                             : "Ostler only reports it, as spec.health.mode, "
                                               "spec.validation or the node's label " LABEL_HEALTH
                                               " says");
    add_warning(slot, REASON_BLACK_HOLE, note, actions);
}
