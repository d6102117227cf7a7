#include "reconcilers/decide/repair_request.h"

#include "reconcilers/model/names.h"

enum repair_refusal repair_request_refusal(const struct node_pass *p)
{
    const struct node_input *in = p->in;
    if (in->view.node->repair == INTERN_NONE)
        return REPAIR_TAKEN;
    if (!in->health_spec->repairs)
        return REPAIR_NOT_ALLOWED;
    if (in->health_spec->mode == HEALTH_MODE_OBSERVE)
        return REPAIR_OBSERVED;
    if (node_is_held(&in->view))
        return REPAIR_HELD;
    bool taken = p->v->repair == REPAIR_ASKED || in->view.node->claim != INTERN_NONE;
    return taken ? REPAIR_TAKEN : REPAIR_IMPOSSIBLE;
}

#define ASKED "a user asks for a repair (annotation " ANNOTATION_REPAIR "), and Ostler ignores it: "

const char *repair_request_text(enum repair_refusal refusal)
{
    static const char *const texts[REPAIR_REFUSALS] = {
        [REPAIR_TAKEN] = "",
        [REPAIR_NOT_ALLOWED] = ASKED
        "no administrator has allowed repairs (allowRepairs of the chart)",
        [REPAIR_OBSERVED] = ASKED "spec.health.mode of the policy is Observe",
        [REPAIR_HELD] = ASKED "a user holds the node with the label " LABEL_HOLD,
        [REPAIR_IMPOSSIBLE] = ASKED "only a reboot can repair it, and spec.health.reboot is None",
    };
    return texts[refusal];
}
