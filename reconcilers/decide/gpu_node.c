#include "reconcilers/decide/gpu_node.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/prerequisites.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/decide/health_report.h"
#include "reconcilers/decide/next_step.h"
#include "reconcilers/decide/node_conditions.h"
#include "reconcilers/decide/waiting_for.h"

/* ---- texts */

static const char *rolled_back_sentence(const struct gpu_node_input *in, struct arena *a)
{
    const char *space = strchr(in->failure, ' ');
    const char *where = space ? arena_printf(a, " on %.*s with %s", (int) (space - in->failure),
                                             in->failure, space + 1)
                              : "";
    return arena_printf(
        a,
        "the node works and runs %s in place of %s, which the policy asks for and which failed%s; "
        "correct the policy, or retry the revision: " POLICY_RETRY_COMMAND,
        in->runs, in->failed, where, in->failed_retry);
}

/* The report's reason and message: like the condition's. For a node under way, the kubelet's reason
 * for a pod that does not come up. For a working node, what it still waits for. */
static const char *gpu_node_word_of(const struct gpu_node_input *in, struct arena *a)
{
    const char *trouble = waiting_trouble(in->summary, a);
    if (waiting_for_turn(in))
        return reason_text(rollout_hold_reason(waiting_turn(in->hold)));
    if (gpu_node_is_rolled_back(in))
        return reason_text(gpu_node_rolled_back_reason(in));
    return trouble ? trouble : node_ready_reason(in);
}

static const char *gpu_node_sentence_of(const struct gpu_node_input *in, struct arena *a)
{
    if (waiting_for_turn(in))
        return waiting_turn_sentence(in, a);
    if (gpu_node_is_rolled_back(in))
        return rolled_back_sentence(in, a);
    return waiting_closed(in) ? waiting_closed_sentence(in, a) : node_ready_message(in, a);
}

static json_t *shortened(const char *text, size_t max)
{
    CLEANUP_FREE char *cut = str_shortened(text, max);
    return json_text(cut);
}

static void gpu_node_set_text(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, json_text(text));
}

/* Left out if empty: when apply removes an object's last member the object becomes null, which the
 * API server rejects. */
static void set_tier(json_t *status, const struct gpu_node_input *in, enum tier t)
{
    const struct node_standing *of = &in->summary->of[t];
    const char *version = t == TIER_DRIVER && in->node->host_driver ? GPU_NODE_HOST_DRIVER
                                                                    : in->version[t];
    CLEANUP_JSON json_t *tier = json_object();
    gpu_node_set_text(tier, "version", version);
    gpu_node_set_text(tier, "revision",
                      of->carried && !summary_leaves(in->summary, t) ? of->carried->hash : NULL);
    gpu_node_set_text(tier, "target", of->target ? of->target->hash : NULL);
    if (json_object_size(tier))
        json_object_set(status, tiers[t].name, tier);
}

/* A time in the future is replaced. */
static json_t *since_json(const struct gpu_node_input *in, const char *state)
{
    const struct gpu_node *r = in->report;
    char text[CLOCK_TEXT_MAX];
    bool told = r && str_eq(r->state, state) && r->since_s &&
                !clock_is_ahead(r->since_s, clock_parse_rfc3339(in->now) / 1000000);
    if (told)
        clock_rfc3339(r->since_s * 1000000, text);
    return json_string(told ? text : in->now);
}

static void set_words(json_t *status, const struct log_tail *w)
{
    if (w && w->text)
        json_object_set_new(status, "lastWords",
                            json_pack("{s:s, s:s, s:s}", "pod", w->pod, "container", w->container,
                                      "text", w->text));
}

static json_t *status_json(const struct gpu_node_input *in, struct arena *a)
{
    const struct node_summary *s = in->summary;
    const char *state = node_state_name(s->state), *message = gpu_node_sentence_of(in, a);
    json_t *status = json_pack("{s:s, s:o}", "state", state, "reason",
                               shortened(gpu_node_word_of(in, a), NODE_WORD_MAX));
    if (in->gpus)
        json_object_set_new(status, "gpus", json_integer(in->gpus));
    gpu_node_set_text(status, "product", in->product);
    if (message)
        json_object_set_new(status, "message", shortened(message, CONDITION_MESSAGE_MAX));
    json_object_set_new(status, "since", since_json(in, state));
    CLEANUP_JSON json_t *waiting = waiting_for(in, a);
    if (json_array_size(waiting))
        json_object_set(status, "waitingFor", waiting);
    for (enum tier t = 0; t < TIERS; t++)
        set_tier(status, in, t);
    json_t *next = next_step(in, a);
    if (next)
        json_object_set_new(status, "next", next);
    if (in->health)
        json_object_set_new(status, GPU_NODE_HEALTH, health_status_json(in->health));
    set_words(status, in->words);
    json_t *stages = in->stages ? node_stages_json(in->stages) : NULL;
    if (stages)
        json_object_set_new(status, GPU_NODE_STAGES, stages);
    json_object_set_new(status, GPU_NODE_GENERATION, json_integer(in->generation));
    return status;
}

/* ---- the GpuNode */

static void plan_delete(const struct gpu_node_input *in, const char *target, const char *message,
                        struct actions *actions)
{
    action_add(actions,
               request_delete(RESOURCE_GPU_NODE, NULL, in->name, RECORD_UID(&in->report->head),
                              in->report->head.rv),
               VERB_DELETE, target, REASON_REPORT_UNNEEDED, "%s", message);
}

/* A GpuNode that the node's agent created has no ownerReference yet. */
static void plan_create(const struct gpu_node_input *in, const char *target,
                        struct actions *actions)
{
    CLEANUP_JSON json_t *object = json_pack(
        "{s:s, s:s, s:{s:s, s:{s:s}, s:[{s:s, s:s, s:s, s:s}]}}", "apiVersion", POLICY_API_VERSION,
        "kind", GPU_NODE_KIND, "metadata", "name", in->name, "labels", LABEL_MANAGED_BY, MANAGED_BY,
        "ownerReferences", "apiVersion", "v1", "kind", "Node", "name", in->name, "uid",
        RECORD_UID(&in->node->head));
    action_add(actions, request_apply(RESOURCE_GPU_NODE, NULL, in->name, object), VERB_APPLY,
               target, in->report ? REASON_REPORT_UNOWNED : REASON_REPORT_MISSING,
               in->report ? "the GpuNode has no ownerReference to its Node yet: Ostler adds it"
                          : "the node has no GpuNode yet: Ostler creates it");
}

/* Ostler keeps the agent's report while there is a policy: the agent would not send it again, and a
 * node without a report looks like a new node. Without a policy it stays as long as the agent. The
 * GpuNode of a deleted node is garbage-collected. */
static bool keeps_inventory(const struct gpu_node_input *in)
{
    return (in->managing || in->agent) && in->report && in->report->inventory;
}

/* An agent creates its GpuNode and reports a moment later. Deleting the GpuNode in between would
 * make the agent start over, and perhaps never report. */
static bool is_just_made(const struct gpu_node_input *in)
{
    const struct gpu_node *r = in->report;
    return in->managing && r && !r->owner && !*r->state && !r->inventory;
}

static bool is_of_another(const struct gpu_node_input *in)
{
    uint64_t owner = in->report ? in->report->owner : 0;
    return owner && owner != str_hash_id(RECORD_UID(&in->node->head));
}

/* A GpuNode without an owner is not garbage-collected. Its node may not have been seen yet, so list
 * the nodes first. */
static void plan_orphan(const struct gpu_node_input *in, const char *target,
                        struct actions *actions)
{
    CLEANUP_FREE char *selector = xasprintf("metadata.name=%s", in->name);
    actions->keep_going = false;
    action_add(actions,
               request_look(RESOURCE_NODE, &(struct list_options){ .field_selector = selector }),
               VERB_LOOK, target, REASON_REPORT_UNNEEDED,
               "lists the Nodes of this name, before the GpuNode is deleted");
    plan_delete(in, target, "there is no Node of this name: Ostler deletes the GpuNode", actions);
}

/* Deletes a GpuNode that should not exist. */
static void plan_way(const struct gpu_node_input *in, const char *target, bool wanted,
                     struct actions *actions)
{
    bool keeps = keeps_inventory(in) || is_just_made(in);
    if (!in->report || in->report->deleting)
        return;
    if (keeps && !in->node && !in->report->owner)
        plan_orphan(in, target, actions);
    else if (!keeps && !wanted)
        plan_delete(in, target, "Ostler no longer manages the node: it deletes the GpuNode",
                    actions);
    else if (!keeps && is_of_another(in))
        plan_delete(in, target,
                    "the GpuNode belongs to an earlier Node of this name: Ostler deletes it",
                    actions);
}

/* Whether the node may have a report. */
static bool may_be_said(const struct gpu_node_input *in, bool wanted)
{
    bool there = in->node && !in->node->deleting;
    if (!there || !in->reports_exist || !(wanted || keeps_inventory(in)))
        return false;
    return !in->report || !(in->report->deleting || is_of_another(in));
}

/* Why Ostler does not manage a node; the first that applies. */
static const char *why_unmanaged(const struct gpu_node_input *in, struct arena *a,
                                 enum reason *ret_reason)
{
    const struct node_view view = { in->node, in->strings, in->reads };
    *ret_reason = REASON_NO_GPU;
    if (!in->summary->gpu)
        return "no GPU was found on the node";
    const char *managed = node_label(&view, LABEL_MANAGED),
               *operands = node_label(&view, LABEL_DEPLOY_OPERANDS);
    *ret_reason = REASON_OPTED_OUT;
    if (str_eq(managed, "false"))
        return arena_printf(a,
                            "Ostler leaves the node alone because of its label " LABEL_MANAGED
                            "=false; to have it managed, "
                            "run: kubectl label node %s " LABEL_MANAGED "-",
                            in->name);
    if (str_eq(operands, "false") && !str_eq(managed, "true"))
        return arena_printf(
            a,
            "Ostler leaves the node alone because of its label " LABEL_DEPLOY_OPERANDS
            "=false; to have it "
            "managed, run: kubectl label node %s " LABEL_DEPLOY_OPERANDS "-",
            in->name);
    *ret_reason = REASON_NOT_SELECTED;
    return "Ostler leaves the node alone because spec.nodes.selector of the policy does not match "
           "its labels";
}

/* The report of an unmanaged node whose agent created the GpuNode. Without a policy no node is
 * managed, and nothing is reported. */
static json_t *unmanaged_json(const struct gpu_node_input *in, struct arena *a)
{
    const char *state = node_state_name(NODE_UNMANAGED);
    enum reason reason;
    if (!in->managing)
        return json_object();
    const char *message = why_unmanaged(in, a, &reason);
    json_t *status = json_pack(
        "{s:s, s:s, s:o, s:o}", "state", state, "reason", reason_text(reason), "message",
        shortened(message, CONDITION_MESSAGE_MAX), "since", since_json(in, state));
    gpu_node_set_text(status, "product", in->product);
    json_object_set_new(status, GPU_NODE_GENERATION, json_integer(in->generation));
    return status;
}

/* Whether Ostler manages the node. */
static bool is_looked_after(const struct gpu_node_input *in)
{
    return in->node && !in->node->deleting && in->summary->state != NODE_UNMANAGED;
}

json_t *gpu_node_status(const struct gpu_node_input *in, struct arena *a)
{
    CLEANUP_JSON json_t *whole = is_looked_after(in) ? status_json(in, a) : unmanaged_json(in, a);
    return known_fields(in->known, whole);
}

/* What a managed node's report says, for the log. */
static const char *news_of(const struct gpu_node_input *in, struct arena *a)
{
    const char *health = in->health ? arena_printf(a, "; its GPUs: %s %s",
                                                   health_level_name(in->health->level),
                                                   in->health->reason)
                                    : "";
    return arena_printf(a, "%s %s: %s%s", node_state_name(in->summary->state),
                        gpu_node_word_of(in, a), str_or_empty(gpu_node_sentence_of(in, a)), health);
}

static void plan_status(const struct gpu_node_input *in, struct arena *a, const char *target,
                        bool wanted, struct actions *actions)
{
    CLEANUP_JSON json_t *status = gpu_node_status(in, a);
    if (in->report && in->report->said == gpu_node_said(status))
        return;
    if (in->health_told_ms < GPU_NODE_SENTENCE_MS &&
        health_report_only_recounts(in->report, status)) {
        actions_requeue(actions, GPU_NODE_SENTENCE_MS - in->health_told_ms);
        return;
    }
    CLEANUP_JSON json_t *apply = json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion",
                                           POLICY_API_VERSION, "kind", GPU_NODE_KIND, "metadata",
                                           "name", in->name, "status", status);
    const char *news = wanted ? news_of(in, a) : "Ostler does not manage the node";
    action_add(actions, request_apply_status(RESOURCE_GPU_NODE, NULL, in->name, apply), VERB_STATUS,
               target, REASON_REPORT_CHANGED, "%s", news);
    if (wanted)
        health_report_notice(in->node, in->report,
                             json_object_get(status, GPU_NODE_HEALTH) ? in->health : NULL, actions);
}

static void plan_report(const struct gpu_node_input *in, struct arena *a, bool wanted,
                        struct actions *actions)
{
    const char *target = arena_printf(a, "gpunode/%s", in->name);
    plan_way(in, target, wanted, actions);
    if (!may_be_said(in, wanted))
        return;
    if (!in->report || !in->report->owner)
        plan_create(in, target, actions);
    plan_status(in, a, target, wanted, actions);
}

bool gpu_node_plan(const struct gpu_node_input *in, struct arena *a, struct actions *actions)
{
    bool looked_after = is_looked_after(in);
    actions->keep_going = true;
    plan_report(in, a, looked_after, actions);
    return in->node && !in->node->deleting && node_conditions_plan(in, a, looked_after, actions);
}
