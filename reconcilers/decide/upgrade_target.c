#include "reconcilers/decide/upgrade_target.h"

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/marks.h"

const char *upgrade_target_text(struct arena *a, const struct target *t)
{
    CLEANUP_FREE char *text = assignment_text(assignment_ref(&t->runs), '/', "");
    return arena_strdup(a, text);
}

bool upgrade_names(const char *text, struct assignment_ref target)
{
    CLEANUP_FREE char *wanted = text ? assignment_text(target, '/', "") : NULL;
    return text && str_eq(text, wanted);
}

bool upgrade_given_up(const struct node_input *in, const struct target *t)
{
    return upgrade_names(intern_text(in->view.strings, in->view.node->gave_up),
                         assignment_ref(&t->runs));
}

bool upgrade_claim_taken(const struct node_input *in)
{
    return !in->view.node->claim && marks_closed(&in->view);
}

static bool is_tried_out(const struct node_input *in, const struct target *t)
{
    return in->rollout->canary_nodes == 0 ||
           (t->canary_s && in->now_s - t->canary_s >= in->rollout->canary_soak_s);
}

/* Whether a user removed or broke the driver's label, and no pod shows what it was. */
static bool is_overwritten(const struct node_input *in, const struct target *policy_target)
{
    const char *label = node_label(&in->view, LABEL_DRIVER);
    bool known = label && (str_eq(label, policy_target->runs.hash[TIER_DRIVER]) ||
                           in->record(in->arg, TIER_DRIVER, label));
    return !known && *policy_target->good->runs.hash[TIER_DRIVER] &&
           !in->pods->of[OPERAND_DRIVER].revision;
}

/* Nodes that succeeded with it stay, unless it seems to break their GPUs. */
static bool succeeded(const struct node_input *in, const struct target *policy_target)
{
    return node_bears(&in->view, &policy_target->runs) &&
           !(in->health && health_blames_driver(in->health));
}

const struct target *upgrade_target(const struct node_input *in, const struct target *policy_target)
{
    if (!policy_target->good)
        return policy_target;
    bool taken = upgrade_claim_taken(in), given_up = taken || upgrade_given_up(in, policy_target);
    bool rolled_back = policy_target->failed && in->rollout->on_failure == ROLLOUT_ROLLBACK;
    if (in->view.node->claim || taken)
        return given_up || rolled_back ? policy_target->good : policy_target;
    /* What such nodes ran is not known. */
    if (assignment_is_empty(node_assigned(&in->view)) || is_overwritten(in, policy_target))
        return given_up || policy_target->failed || !is_tried_out(in, policy_target)
                   ? policy_target->good
                   : policy_target;
    return rolled_back && !succeeded(in, policy_target) ? policy_target->good : policy_target;
}
