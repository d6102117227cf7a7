#include "reconcilers/decide/next_step.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/rollout_message.h"
#include "reconcilers/decide/waiting_for.h"

enum { NEXT_REASON_MAX = 128, NEXT_MESSAGE_MAX = 512 }; /* limits of the CRD */

static void put(json_t *next, const char *key, const char *text, size_t max)
{
    CLEANUP_FREE char *cut = str_shortened(text, max);
    json_object_set_new(next, key, json_text(cut));
}

static json_t *step(const char *reason, int64_t until_s, const char *message, struct arena *a)
{
    json_t *next = json_object();
    put(next, "reason", reason, NEXT_REASON_MAX);
    if (until_s > 0)
        json_object_set_new(next, "until", json_text(rollout_time_text(a, until_s)));
    if (message)
        put(next, "message", message, NEXT_MESSAGE_MAX);
    return next;
}

/* ---- nodes in the rollout */

/* Whether the rollout, more than the node's own claim, decides when a claimed node goes on. A claim
 * in another phase goes on by itself. */
static bool rollout_decides(const struct gpu_node_input *in)
{
    static const bool asks[NODE_STATE_COUNT] = {
        [NODE_WAITING] = true,
        [NODE_FAILED] = true,
        [NODE_READY] = true,
    };
    return asks[in->summary->state] && waiting_is_closed(in->hold);
}

/* A failed node comes back if its operands do, whatever the rollout waits for. */
static json_t *held_step(const struct gpu_node_input *in, struct arena *a)
{
    const char *turn = waiting_turn_text(in, a),
               *back = "; the node returns to service when its operands come up";
    const char *message = arena_printf(a, "%s%s", turn,
                                       in->summary->state == NODE_FAILED ? back : "");
    return step(reason_text(rollout_hold_reason(in->hold)), 0, message, a);
}

static const char *word_of(const struct node_summary *s)
{
    return s->cause ? s->cause->word : reason_text(REASON_PROGRESSING);
}

/* What a failed claim waits for is its next attempt, not what made it fail. */
static json_t *claimed_step(const struct node_summary *s, struct arena *a)
{
    const char *reason = s->moving ? word_of(s) : reason_text(REASON_WAITING_TO_RETRY);
    return step(reason, s->next_s, s->next_text, a);
}

/* ---- other nodes */

static const char *const by_state[NODE_STATE_COUNT] = {
    [NODE_DISCOVERED] = "then Ostler installs driver, toolkit and device plugin",
    [NODE_INSTALLING] =
        "when every operand is up, a CUDA program must run on a GPU; then the node is Ready",
    [NODE_VALIDATING] = "when a CUDA program has run on a GPU of the node, it is Ready",
    [NODE_FAILED] = "Ostler keeps trying; when the operand comes up, the node is Ready",
    [NODE_UNHEALTHY] =
        "when the fault of its GPUs has ended and a GPU is validated, Ostler opens the node",
    [NODE_LOST] = "when the node is Ready again, Ostler continues; until then no timeout runs",
    [NODE_UNSUPPORTED] = "nothing, until a user solves the problem in status.message",
    [NODE_REMOVING] = "when nothing blocks the node, Ostler removes driver, labels and taints",
};

/* What differs from the rest of the state. */
static const struct {
    enum reason reason;
    const char *text;
} by_reason[] = {
    { REASON_CLAIM_UNREADABLE, "nothing, until a user does what status.message says" },
    { REASON_TOOLKIT_STOPPED,
      "nothing, until the node that status.message names comes up with the toolkit" },
    { REASON_WAITING_FOR_TOOLKIT, "the node gets its toolkit in turn" },
};

static const char *text_of(const struct node_summary *s)
{
    for (size_t i = 0; s->cause && i < ARRAY_LEN(by_reason); i++)
        if (s->cause->reason == by_reason[i].reason)
            return by_reason[i].text;
    return by_state[s->state];
}

json_t *next_step(const struct gpu_node_input *in, struct arena *a)
{
    const struct node_summary *s = in->summary;
    bool claimed = s->next_text && s->state != NODE_LOST;
    if (claimed)
        return rollout_decides(in) ? held_step(in, a) : claimed_step(s, a);
    if (waiting_for_turn(in) || waiting_for_repair(in))
        return step(reason_text(rollout_hold_reason(waiting_turn(in->hold))), 0, NULL, a);
    if (gpu_node_is_rolled_back(in))
        return step(reason_text(gpu_node_rolled_back_reason(in)), 0,
                    "nothing, until a user corrects the policy or retries the version", a);
    const char *text = gpu_node_is_closed(in) ? health_closed_next(in->health, &in->handling)
                                              : text_of(s);
    const char *word = gpu_node_is_closed(in) ? in->handling.record.reason : word_of(s);
    return text ? step(word, 0, text, a) : NULL;
}
