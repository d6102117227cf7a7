#include "reconcilers/decide/waiting_for.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/decide/drain.h"
#include "reconcilers/decide/holders.h"
#include "reconcilers/decide/repair_plan.h"
#include "reconcilers/decide/repair_request.h"
#include "reconcilers/decide/task_pod.h"

enum { MESSAGE_MAX = 256, NAME_MAX_BYTES = 253 }; /* limits of the CRD */

struct entry {
    const char *kind;
    const char *ns; /* NULL: cluster-scoped */
    const char *name;
    const char *reason;
    const char *message;
};

static void waiting_for_add(json_t *list, const struct entry *e)
{
    if (json_array_size(list) == GPU_NODE_WAITING_MAX)
        return;
    CLEANUP_FREE char *message = str_shortened(str_or_empty(e->message), MESSAGE_MAX),
                      *name = str_shortened(e->name, NAME_MAX_BYTES);
    json_t *entry = json_pack("{s:s, s:o}", "kind", e->kind, "name", json_text(name));
    if (e->ns)
        json_object_set_new(entry, "namespace", json_text(e->ns));
    json_object_set_new(entry, "reason", json_text(e->reason));
    json_object_set_new(entry, "message", json_text(message));
    json_array_append_new(list, entry);
}

/* "" if the key has none. */
static const char *namespace_of(const char *key, struct arena *a)
{
    const char *slash = strchr(key, '/');
    return arena_printf(a, "%.*s", slash ? (int) (slash - key) : 0, key);
}

static void waiting_for_add_pod(json_t *list, const char *key, const char *reason,
                                const char *message, struct arena *a)
{
    waiting_for_add(
        list, &(struct entry){ "Pod", namespace_of(key, a), record_name(key), reason, message });
}

/* ---- pods that block a drain */

/* The Job of a pod, from the Job controller's label; NULL: none. */
static const char *job_of(const struct gpu_node_input *in, const struct pod *p, struct arena *a)
{
    static const char *const keys[] = { "\nbatch.kubernetes.io/job-name=", "\njob-name=" };
    const char *text = p->component == OPERAND_NONE && !pod_task(p)
                           ? intern_text(in->strings, p->traits)
                           : NULL;
    const char *lines = arena_printf(a, "\n%s", str_or_empty(text));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *at = strstr(lines, keys[i]);
        if (at)
            return arena_printf(a, "%.*s", (int) strcspn(at + strlen(keys[i]), "\n"),
                                at + strlen(keys[i]));
    }
    return NULL;
}

static bool has_entry(const json_t *list, const char *kind, const char *ns, const char *name)
{
    JSON_EACH (e, list)
        if (str_eq(json_str(e, "kind"), kind) && str_eq(json_str(e, "namespace"), ns) &&
            str_eq(json_str(e, "name"), name))
            return true;
    return false;
}

/* A job is listed once, however many of its pods run here. */
static void add_found(const struct gpu_node_input *in, const struct drain_found *f, json_t *list,
                      struct arena *a)
{
    const char *key = f->pod->head.key, *ns = namespace_of(key, a);
    bool waits = f->fate == DRAIN_JOB || f->fate == DRAIN_TIMED_JOB || f->fate == DRAIN_SICK_JOB;
    const char *job = waits ? job_of(in, f->pod, a) : NULL;
    const char *unasked = f->unasked ? "; it uses a GPU that it did not request" : "";
    if (!job)
        waiting_for_add_pod(list, key, reason_text(drain_fate_reason(f->fate)),
                            arena_printf(a, "%s%s", drain_fate_text(f->fate), unasked), a);
    else if (!has_entry(list, "Job", ns, job))
        waiting_for_add(list,
                        &(struct entry){ "Job", ns, job, reason_text(drain_fate_reason(f->fate)),
                                         arena_printf(a, "%s (pod %s)", drain_fate_text(f->fate),
                                                      record_name(key)) });
}

/* "pod/NAMESPACE/NAME: Cannot evict pod … The disruption budget NAME needs 2 healthy pods …": the
 * API server's message about the last eviction. */
static void add_budget(const struct gpu_node_input *in, json_t *list, struct arena *a)
{
    static const char before[] = "The disruption budget ", pod[] = "pod/";
    const char *said = in->refused ? strstr(in->refused, before) : NULL;
    if (!said || !str_has_prefix(in->refused, pod))
        return;
    said += sizeof before - 1;
    const char *ns = namespace_of(in->refused + sizeof pod - 1, a),
               *name = arena_printf(a, "%.*s", (int) strcspn(said, " "), said);
    if (*name)
        waiting_for_add(list,
                        &(struct entry){ "PodDisruptionBudget", ns, name,
                                         reason_text(REASON_DISRUPTION_BUDGET), in->refused });
}

/* The text for a node that waits for its turn: what blocks it, and what happens then. */
static const char *const turns[ROLLOUT_HOLD_COUNT] = {
    [ROLLOUT_HOLD_PAUSED] = "the upgrade starts when spec.rollout.paused is false",
    [ROLLOUT_HOLD_APPROVAL] =
        "the upgrade starts when a user approves the plan in status.rollout of the policy",
    [ROLLOUT_HOLD_WINDOW] = "no window of spec.rollout.windows is open; the upgrade starts in the "
                            "next one: see status.rollout of the policy",
    [ROLLOUT_HOLD_FAILED] =
        "that revision failed on other nodes; the node stays unchanged until the policy changes, "
        "or a user retries the revision",
    [ROLLOUT_HOLD_IMAGES] = "the upgrade starts when its images have been pulled on the node",
    [ROLLOUT_HOLD_CANARY] =
        "the canary of that revision goes first: the upgrade starts when it has worked for "
        "spec.rollout.canary.soak",
    [ROLLOUT_HOLD_SOAK] = "that revision must first soak on other nodes; status.rollout of the "
                          "policy says when the upgrade starts",
    [ROLLOUT_HOLD_PARALLEL] = "other nodes go first, within the limits of spec.rollout; "
                              "status.rollout of the policy says which limit applies",
    [ROLLOUT_HOLD_DOWN] = "the node is down; the upgrade starts when it is Ready",
    [ROLLOUT_HOLD_SKIPPED] = "a user holds it with the label " LABEL_HOLD
                             "; the upgrade starts when the label is removed",
};

static bool is_to_be_repaired(const struct gpu_node_input *in)
{
    return in->summary->repair == REPAIR_FAULT || in->summary->repair == REPAIR_ASKED;
}

static const char *turn_text(const struct gpu_node_input *in, enum rollout_hold hold,
                             struct arena *a)
{
    const char *repair = is_to_be_repaired(in) ? repair_hold_text(hold) : NULL;
    return repair ? arena_printf(a, "the repair starts %s", repair) : turns[hold];
}

enum rollout_hold waiting_turn(enum rollout_hold hold)
{
    return hold == ROLLOUT_HOLD_NONE || turns[hold] ? hold : ROLLOUT_HOLD_PARALLEL;
}

/* Images that cannot be pulled ahead of an upgrade. */
static const struct task *without_image(const struct gpu_node_input *in)
{
    const struct pod *p = task_pod_find(in->pods, TASK_PULL);
    return p && pod_task(p)->no_image ? pod_task(p) : NULL;
}

/* The user's action, and how to undo it, in the order of rollout_skip_text(). If it was just
 * undone, the rollout has not run yet. */
static const char *why_skipped(const struct gpu_node_input *in, struct arena *a)
{
    const struct node_view view = { in->node, in->strings, in->reads };
    if (is_to_be_repaired(in) && (in->node->cordoned || node_is_held(&view)))
        return turn_text(in, ROLLOUT_HOLD_SKIPPED, a);
    if (in->node->cordoned)
        return "a user cordoned it; the upgrade starts when it is uncordoned";
    if (node_is_held(&view))
        return turns[ROLLOUT_HOLD_SKIPPED];
    return in->node->gave_up
               ? arena_printf(a,
                              "a user cancelled its upgrade to this target; kubectl annotate node "
                              "%s " ANNOTATION_GAVE_UP "- takes that back",
                              in->name)
               : turns[ROLLOUT_HOLD_PARALLEL];
}

const char *waiting_turn_text(const struct gpu_node_input *in, struct arena *a)
{
    enum rollout_hold hold = waiting_turn(in->hold);
    if (hold == ROLLOUT_HOLD_SKIPPED)
        return why_skipped(in, a);
    if (hold == ROLLOUT_HOLD_FAILED && in->retry)
        return arena_printf(a, "%s: " POLICY_RETRY_COMMAND, turns[hold], in->retry);
    const struct task *t = hold == ROLLOUT_HOLD_IMAGES ? without_image(in) : NULL;
    return t ? arena_printf(a,
                            "it cannot get %s: %s; the kubelet keeps trying, and the upgrade "
                            "starts after that",
                            intern_text(in->strings, t->no_image),
                            str_or_empty(intern_text(in->strings, t->why_no_image)))
             : turn_text(in, hold, a);
}

bool waiting_is_closed(enum rollout_hold hold)
{
    static const bool closed[ROLLOUT_HOLD_COUNT] = {
        [ROLLOUT_HOLD_PAUSED] = true,  [ROLLOUT_HOLD_APPROVAL] = true, [ROLLOUT_HOLD_WINDOW] = true,
        [ROLLOUT_HOLD_FAILED] = true,  [ROLLOUT_HOLD_CANARY] = true,   [ROLLOUT_HOLD_SOAK] = true,
        [ROLLOUT_HOLD_SKIPPED] = true,
    };
    return closed[hold];
}

bool waiting_closed(const struct gpu_node_input *in)
{
    return in->summary->state == NODE_WAITING && in->hold != ROLLOUT_HOLD_SKIPPED &&
           waiting_is_closed(in->hold);
}

const char *waiting_closed_sentence(const struct gpu_node_input *in, struct arena *a)
{
    return arena_printf(a, "its jobs have ended; %s", waiting_turn_text(in, a));
}

/* The same for a tainted node whose jobs are over. */
static const char *closed_turn(const struct gpu_node_input *in, struct arena *a)
{
    bool others = waiting_turn(in->hold) == ROLLOUT_HOLD_NONE ||
                  waiting_turn(in->hold) == ROLLOUT_HOLD_PARALLEL;
    return others ? "a free slot: the rollout is at its node limits" : waiting_turn_text(in, a);
}

/* A process outside pods: it is listed by its process name. */
static void add_hosts(const struct node_holders *h, json_t *list, struct arena *a)
{
    for (size_t i = 0; h && i < h->host_count; i++)
        waiting_for_add(
            list,
            &(struct entry){
                "Process", NULL, *h->hosts[i].process ? h->hosts[i].process : "unknown",
                reason_text(REASON_HOST_PROCESS),
                arena_printf(a, "%s has a GPU open, and no eviction ends it: end it on the node",
                             holders_host_text(&h->hosts[i], a)) });
}

static void add_drain(const struct gpu_node_input *in, json_t *list, struct arena *a)
{
    struct drain d;
    add_hosts(in->holders, list, a);
    drain_look(&(struct drain_input){ .pods = in->pods,
                                      .node_uid = in->node ? RECORD_UID(&in->node->head) : NULL,
                                      .strings = in->strings,
                                      .spec = in->drain,
                                      .jobs_may_go = in->jobs_may_go,
                                      .closed_s = in->closed_s,
                                      .now_s = in->now_s,
                                      .holders = in->holders },
               a, &d);
    for (size_t i = 0; i < d.waiting; i++)
        add_found(in, &d.found[i], list, a);
    if (drain_is_done(&d))
        waiting_for_add(list,
                        &(struct entry){ POLICY_KIND, NULL, POLICY_NAME,
                                         reason_text(rollout_hold_reason(waiting_turn(in->hold))),
                                         closed_turn(in, a) });
}

/* ---- */

/* Removal waits for users of a GPU and evicts none. */
static void add_users(const struct gpu_node_input *in, json_t *list, struct arena *a)
{
    static const struct drain_spec spec = {
        .taint_key = TAINT_UPGRADE, .wait_for_jobs_s = -1, .force = true, .delete_empty_dir = true
    };
    struct drain d;
    drain_look(&(struct drain_input){ .pods = in->pods,
                                      .node_uid = in->node ? RECORD_UID(&in->node->head) : NULL,
                                      .strings = in->strings,
                                      .spec = &spec,
                                      .jobs_may_go = true,
                                      .holders = in->holders },
               a, &d);
    for (size_t i = 0; i < d.waiting; i++)
        waiting_for_add_pod(
            list, d.found[i].pod->head.key, reason_text(REASON_USES_GPU),
            d.found[i].pod->deleting ? "uses a GPU, is being deleted" : "uses a GPU", a);
}

static void add_images(const struct gpu_node_input *in, json_t *list)
{
    const struct task *t = without_image(in);
    if (t)
        waiting_for_add(list, &(struct entry){ "Image", NULL, intern_text(in->strings, t->no_image),
                                               reason_text(REASON_IMAGE_PULL_FAILED),
                                               intern_text(in->strings, t->why_no_image) });
}

static const char *part_of(const struct node_summary *s)
{
    const char *part = s->cause ? operand_name(s->cause->component) : "";
    return *part ? part : "operand";
}

const char *waiting_trouble(const struct node_summary *s, struct arena *a)
{
    return s->trouble ? arena_printf(a, "%.*s", (int) strcspn(s->trouble, ":"), s->trouble) : NULL;
}

bool waiting_for_turn(const struct gpu_node_input *in)
{
    const struct node_summary *s = in->summary;
    return s->state == NODE_READY && s->outdated && !s->moving && in->hold != ROLLOUT_HOLD_NONE;
}

bool waiting_for_repair(const struct gpu_node_input *in)
{
    const struct node_summary *s = in->summary;
    return is_to_be_repaired(in) && !s->moving && in->hold != ROLLOUT_HOLD_NONE &&
           (s->state == NODE_READY || s->state == NODE_UNHEALTHY);
}

bool waiting_without_image(const struct gpu_node_input *in)
{
    return waiting_for_turn(in) && in->hold == ROLLOUT_HOLD_IMAGES && without_image(in);
}

const struct revision_tally *waiting_turn_target(const struct node_summary *s)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (s->of[t].carried && s->of[t].target && s->of[t].carried != s->of[t].target)
            return s->of[t].target;
    return s->of[TIER_STACK].target;
}

const char *waiting_turn_sentence(const struct gpu_node_input *in, struct arena *a)
{
    const struct revision_tally *to = waiting_turn_target(in->summary);
    enum tier tier = tier_parse(to->tier);
    bool namesake = str_eq(in->target_version, in->version[tier]);
    return arena_printf(a, "in service; to run %s %s%s%s%s: %s", tiers[tier].versioned,
                        in->target_version ? in->target_version : "of another revision",
                        namesake ? arena_printf(a, " (revision %s)", to->hash) : "",
                        in->wanted_since ? ", wanted since " : "", str_or_empty(in->wanted_since),
                        waiting_turn_text(in, a));
}

/* A repair that a user waits for in vain. */
static void add_request(const struct node_summary *s, json_t *list)
{
    if (s->refusal != REPAIR_TAKEN)
        waiting_for_add(list, &(struct entry){ POLICY_KIND, NULL, POLICY_NAME,
                                               reason_text(REASON_REPAIR_IGNORED),
                                               repair_request_text(s->refusal) });
}

json_t *waiting_for(const struct gpu_node_input *in, struct arena *a)
{
    const struct node_summary *s = in->summary;
    json_t *list = json_array();
    const char *trouble = waiting_trouble(s, a);
    enum reason reason = s->cause ? s->cause->reason : REASON_NONE;
    add_budget(in, list, a);
    if ((s->state == NODE_WAITING || s->state == NODE_DRAINING) && in->drain) {
        add_drain(in, list, a);
    } else if (reason == REASON_WAITING_FOR_GPU_PODS) {
        add_users(in, list, a);
    } else if (reason == REASON_WAITING_FOR_PROCESSES) {
        add_hosts(in->holders, list, a);
    } else if (s->pod) {
        const char *word = trouble    ? trouble
                           : s->cause ? s->cause->word
                                      : node_state_name(s->state);
        waiting_for_add_pod(list, s->pod, word, arena_printf(a, "the node's %s", part_of(s)), a);
    } else if (waiting_for_turn(in) || waiting_for_repair(in)) {
        add_images(in, list);
        waiting_for_add(list,
                        &(struct entry){ POLICY_KIND, NULL, POLICY_NAME,
                                         reason_text(rollout_hold_reason(waiting_turn(in->hold))),
                                         waiting_turn_text(in, a) });
    }
    add_request(s, list);
    return list;
}
