#include "reconcilers/decide/doubt.h"

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/black_hole.h"

/* Whether Ostler may run a program for it. */
static bool may_prove(const struct node_input *in)
{
    return in->health_spec && in->health_spec->mode != HEALTH_MODE_OBSERVE &&
           in->policy->validation.enabled && !node_ignores_faults(&in->view);
}

static bool asks(const struct node_input *in)
{
    return may_prove(in) && (black_hole_is_suspected(in->suspicion, in->now_s) ||
                             black_hole_is_proving(in->suspicion, in->now_s));
}

/* Whether the working pods of the node show nothing. */
static bool is_doubted(const struct node_input *in)
{
    return asks(in) || black_hole_proof_failed_s(&in->view, in->suspicion);
}

/* Whether the validation that the node has must be written as void in this pass. */
static bool voids(const struct node_pass *p, const struct proof_case *c, struct proof_look *ret)
{
    struct proof proof;
    const struct node_input *in = p->in;
    if (!asks(in) || !proof_of_node(&in->view, &proof) || !proof_is_of(&proof, c->of))
        return false;
    *ret = (struct proof_look){ .result = PROOF_WAITS,
                                .reason = REASON_VALIDATING,
                                .voids = true,
                                .message = arena_printf(
                                    p->a, "%s: Ostler runs a CUDA program on a GPU of the node",
                                    black_hole_text(in->suspicion, in->now_s, p->a)) };
    return true;
}

static enum black_hole_step step_of(const struct node_input *in, const struct proof_look *look)
{
    if (black_hole_is_suspected(in->suspicion, in->now_s))
        return may_prove(in) ? BLACK_HOLE_ASKED : BLACK_HOLE_TOLD;
    if (!black_hole_is_proving(in->suspicion, in->now_s))
        return BLACK_HOLE_NOTHING;
    if (look->result == PROOF_FAILS && look->reason == REASON_VALIDATION_FAILED)
        return BLACK_HOLE_FAILED;
    /* HOLDS: the validation is not void yet. */
    return look->result == PROOF_PASSES ? BLACK_HOLE_PASSED : BLACK_HOLE_NOTHING;
}

void doubt_look(const struct node_pass *p, struct proof_case *c, struct proof_look *ret)
{
    const struct node_input *in = p->in;
    int64_t due_s = black_hole_due_s(in->suspicion, in->now_s);
    c->may_count &= !is_doubted(in);
    if (!voids(p, c, ret))
        proof_look(p, c, ret);
    p->v->black_hole = step_of(in, ret);
    if (due_s)
        actions_requeue(p->actions, (due_s - in->now_s) * 1000);
}
