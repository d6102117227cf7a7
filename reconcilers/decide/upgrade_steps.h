/* The way of a claimed node from one revision to another. Each pass looks at the facts (labels, pods, what the kubelet offers)
 * and at the claim, and says what the node bears after it. A phase is entered in the same write as the change that it begins
 * with, so that there is nothing between two steps. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_STEPS_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_STEPS_H

#include "reconcilers/model/claim.h"
#include "reconcilers/decide/drain.h"
#include "reconcilers/decide/node_plan.h"
#include "reconcilers/decide/proof.h"

/* What is done about the pods of a node that drains. */
enum upgrade_send { SEND_NOBODY, SEND_EVICT, SEND_DELETE };

/* What a node bears after the pass. Strings are static, from the arena, or borrowed from the input. */
struct upgrade {
    bool under_way;             /* the node was claimed: all below says what becomes of it. Otherwise only `gave_up` counts */
    bool untouched;             /* what its claim says is not known: nothing is written */
    struct assignment_ref assigned; /* NULL: off */
    bool claimed;               /* it stays claimed, as `claim` says */
    struct claim claim;
    const char *gave_up;        /* the target that a person gave up on here; NULL: none */
    enum reason reason;         /* of the write, where one is needed */
    const char *message;
    bool look;                  /* the write rests on no GPU pod being there: whether that is so is asked before it */
    bool look_for_holders;      /* which pods have a GPU open without having asked for one is asked before all that is done */
    enum upgrade_send send;
    struct drain drain;         /* whom that is about */
    bool proving;               /* the node runs what it was to run: the two below say whether it works */
    struct proof_case proves;
    struct proof_look proof;
};

/* One step. Fills state, reason, message and operands of the verdict where an upgrade is under way; asks to be called again at
 * the next deadline. */
void upgrade_step(const struct node_input *in, const struct target *wish, struct arena *a, struct node_verdict *v,
                  struct actions *actions, struct upgrade *ret);
/* The time for which jobs of a node that is claimed since then are waited for is over. `ret_left_s`: how long it is not; -1: no
 * end of it is set. */
bool upgrade_jobs_may_go(const struct drain_spec *spec, int64_t claimed_s, int64_t now_s, int64_t *ret_left_s);

#endif
