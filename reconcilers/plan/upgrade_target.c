#include "reconcilers/plan/upgrade_target.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/plan/marks.h"

const char *upgrade_pair(struct arena *a, const struct target *t)
{
    return arena_printf(a, "%s/%s", t->driver, t->stack);
}

bool upgrade_is_pair(const char *text, const char *driver, const char *stack)
{
    size_t len = strlen(driver);
    return text && str_has_prefix(text, driver) && text[len] == '/' && str_eq(text + len + 1, stack);
}

bool upgrade_given_up(const struct node_input *in, const struct target *t)
{
    return upgrade_is_pair(intern_text(in->view.strings, in->view.node->gave_up), t->driver, t->stack);
}

bool upgrade_claim_taken(const struct node_input *in)
{
    return !in->view.node->claim && marks_closed(&in->view);
}

static bool is_tried_out(const struct node_input *in, const struct target *t)
{
    return in->rollout->canary_nodes == 0 || (t->canary_s && in->now_s - t->canary_s >= in->rollout->canary_soak_s);
}

/* Whether somebody took the driver's label off or wrote nonsense into it, and no pod is there that would say what it was. */
static bool is_overwritten(const struct node_input *in, const struct target *wish)
{
    const char *label = node_label(&in->view, LABEL_DRIVER);
    bool known = label && (str_eq(label, wish->driver) || in->record(in->arg, "driver", label));
    return !known && *wish->good->driver && !in->pods->of[COMPONENT_DRIVER].revision;
}

const struct target *upgrade_target(const struct node_input *in, const struct target *wish)
{
    if (!wish->good)
        return wish;
    bool taken = upgrade_claim_taken(in), given_up = taken || upgrade_given_up(in, wish);
    bool rolled_back = wish->failed && in->rollout->on_failure == ROLLOUT_ROLLBACK;
    if (in->view.node->claim || taken)
        return given_up || rolled_back ? wish->good : wish;
    /* Of these nobody knows what they ran. */
    if (node_bears(&in->view, "", "") || is_overwritten(in, wish))
        return given_up || wish->failed || !is_tried_out(in, wish) ? wish->good : wish;
    /* Nodes that came through it stay. */
    return rolled_back && !node_bears(&in->view, wish->driver, wish->stack) ? wish->good : wish;
}
