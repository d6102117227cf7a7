#include "reconcilers/decide/node_conditions.h"

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/names.h"

/* What a condition should be, and what it is. */
struct condition_change {
    const char *type;
    const struct node_condition *now;
    const char *status; /* NULL: it should not be there */
    const char *reason, *message;
    bool waits; /* it need not be so yet */
};

/* ---- GpuReady */

const char *node_ready_reason(const struct gpu_node_input *in)
{
    const struct node_summary *s = in->summary;
    if (gpu_node_is_closed(in))
        return in->handling.record.reason;
    if (s->cause)
        return s->cause->word;
    return s->state == NODE_READY ? reason_text(REASON_OPERANDS_UP) : node_state_name(s->state);
}

const char *node_ready_message(const struct gpu_node_input *in, struct arena *a)
{
    const struct node_summary *s = in->summary;
    if (gpu_node_is_closed(in))
        return health_closed_sentence(&in->handling, a);
    return !s->message && s->state == NODE_READY ? NODE_READY_MESSAGE : s->message;
}

/* Ostler does not know whether GPUs work on a node that another stack serves. */
static bool is_ready_known(enum node_state s)
{
    return node_state_taken(s) || s == NODE_REMOVING;
}

static struct condition_change ready_change(const struct gpu_node_input *in, bool managed,
                                            struct arena *a)
{
    struct condition_change c = { .type = NODE_CONDITION, .now = &in->node->gpu_ready };
    if (!managed || !is_ready_known(in->summary->state))
        return c;
    c.status = in->summary->state == NODE_READY ? "True" : "False";
    c.waits = in->still_ready_ms > 0 && c.now->status == CONDITION_TRUE;
    c.reason = node_ready_reason(in);
    c.message = node_ready_message(in, a);
    return c;
}

/* ---- GpuHealthy */

/* Where Ostler acts on faults: not on a node that it releases, or that another stack serves. */
static bool is_health_said(const struct gpu_node_input *in, bool managed)
{
    return managed && health_is_acted_on(&in->handling) && node_state_taken(in->summary->state);
}

/* Without the number of repetitions, so that a fault that comes again writes no Node. */
static const char *fault_text(const struct gpu_node_input *in, struct arena *a)
{
    const struct health_status *h = in->health;
    const char *gpu = *h->address ? arena_printf(a, "GPU %s", h->address) : "a GPU";
    return arena_printf(a,
                        "%s has the fault %s, which asks for %s.%s status.health of the GpuNode "
                        "%s says more.",
                        gpu, h->reason, health_level_name(h->level),
                        health_state_sentence(h, &in->handling, a), in->name);
}

static void say_ignored(const struct gpu_node_input *in, struct arena *a,
                        struct condition_change *c)
{
    c->status = "Unknown";
    c->reason = reason_text(REASON_HEALTH_IGNORED);
    c->message = arena_printf(a,
                              "Ostler does nothing about faults of the node's GPUs, because of its "
                              "label " LABEL_HEALTH "=" HEALTH_IGNORE
                              "; undo: kubectl label node %s " LABEL_HEALTH "-",
                              in->name);
}

static void say_fault(const struct gpu_node_input *in, struct arena *a, struct condition_change *c)
{
    c->status = in->health->level >= HEALTH_CLOSE ? "False" : "True";
    c->reason = in->health->reason;
    c->message = fault_text(in, a);
}

/* A closed node whose fault no source shows any longer: without evidence it is not over. */
static void say_record(const struct gpu_node_input *in, struct arena *a, struct condition_change *c)
{
    c->status = "False";
    c->reason = in->handling.record.reason;
    c->message = health_closed_sentence(&in->handling, a);
}

static struct condition_change health_change(const struct gpu_node_input *in, bool managed,
                                             struct arena *a)
{
    struct condition_change c = { .type = NODE_CONDITION_HEALTH, .now = &in->node->gpu_healthy };
    bool fault = in->health && in->health->level >= HEALTH_CLOSE;
    if (!is_health_said(in, managed))
        return c;
    if (in->handling.left_alone)
        say_ignored(in, a, &c);
    else if (!in->reported) {
        c.status = "Unknown";
        c.reason = reason_text(REASON_HEALTH_NOT_REPORTED);
        c.message = "the node's agent has not reported since the node's last boot";
    } else if (!fault && in->handling.record.state == FAULT_CLOSED)
        say_record(in, a, &c);
    else if (in->health)
        say_fault(in, a, &c);
    else {
        c.status = "True";
        c.reason = reason_text(REASON_NO_FAULT);
        c.message = "no fault of the node's GPUs is known";
    }
    return c;
}

/* ---- the write */

static json_t *shortened(const char *text, size_t max)
{
    CLEANUP_FREE char *cut = str_shortened(text, max);
    return json_text(cut);
}

enum difference { SAME, OTHER_MESSAGE, OTHER };

static json_t *said_json(const struct condition_change *c)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "type", c->type, "status", c->status, "reason",
                     shortened(c->reason, NODE_WORD_MAX), "message",
                     shortened(str_or_empty(c->message), CONDITION_MESSAGE_MAX));
}

static enum difference difference_of(const struct condition_change *c)
{
    if (!c->status)
        return c->now->status == CONDITION_ABSENT ? SAME : OTHER;
    CLEANUP_JSON json_t *condition = said_json(c);
    struct node_condition then = node_condition(condition);
    if (then.status != c->now->status || then.why != c->now->why)
        return OTHER;
    return then.message == c->now->message ? SAME : OTHER_MESSAGE;
}

/* Lists are merged by key, so conditions of others and unnamed members stay. */
static json_t *change_json(const struct condition_change *c, const char *now)
{
    if (!c->status)
        return json_pack("{s:s, s:s}", "$patch", "delete", "type", c->type);
    json_t *condition = said_json(c);
    struct node_condition then = node_condition(condition);
    json_object_set_new(condition, "lastHeartbeatTime", json_string(now));
    if (then.status != c->now->status)
        json_object_set_new(condition, "lastTransitionTime", json_string(now));
    return condition;
}

static const char *news_of(const struct condition_change *c, struct arena *a)
{
    return c->status ? arena_printf(a, "%s is %s, %s", c->type, c->status, c->reason)
                     : arena_printf(a, "%s is gone", c->type);
}

bool node_conditions_plan(const struct gpu_node_input *in, struct arena *a, bool managed,
                          struct actions *actions)
{
    const struct condition_change changes[] = { ready_change(in, managed, a),
                                                health_change(in, managed, a) };
    CLEANUP_JSON json_t *conditions = json_array();
    const char *news = NULL;
    enum difference most = SAME;
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        enum difference d = changes[i].waits ? SAME : difference_of(&changes[i]);
        if (changes[i].waits)
            actions_requeue(actions, in->still_ready_ms);
        most = d > most ? d : most;
        if (d == SAME)
            continue;
        json_array_append_new(conditions, change_json(&changes[i], in->now));
        const char *one = news_of(&changes[i], a);
        news = news ? arena_printf(a, "%s; %s", news, one) : one;
    }
    if (most == OTHER_MESSAGE && in->told_ms < GPU_NODE_SENTENCE_MS)
        actions_requeue(actions, GPU_NODE_SENTENCE_MS - in->told_ms);
    if (most == SAME || (most == OTHER_MESSAGE && in->told_ms < GPU_NODE_SENTENCE_MS))
        return false;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s}, s:{s:O}}", "metadata", "uid",
                                           RECORD_UID(&in->node->head), "status", "conditions",
                                           conditions);
    action_add(actions, request_merge_status(RESOURCE_NODE, NULL, in->name, patch), VERB_CONDITION,
               arena_printf(a, "node/%s", in->name), REASON_CONDITION_CHANGED, "%s", news);
    return true;
}
