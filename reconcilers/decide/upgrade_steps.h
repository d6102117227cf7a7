/* The steps of a claimed node from one revision to another. Each pass looks at the facts (labels,
 * pods, the kubelet's GPUs) and the claim, and decides what the node has after it. A phase starts
 * in the same write as its first change, so there is no state between two steps. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_STEPS_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_STEPS_H

#include "reconcilers/model/claim.h"
#include "reconcilers/decide/drain.h"
#include "reconcilers/decide/node_types.h"
#include "reconcilers/decide/proof.h"

/* What to do about the pods of a draining node. */
enum upgrade_send { SEND_NOBODY, SEND_EVICT, SEND_DELETE };

/* What a node has after the pass. Strings are static, from the arena, or borrowed from the
 * input. */
struct upgrade {
    bool under_way; /* the node was claimed, and all members apply; otherwise only `gave_up` does */
    bool untouched; /* its claim cannot be read: write nothing */
    struct assignment_ref assigned; /* NULL: none */
    bool claimed;                   /* it stays claimed with `claim` */
    struct claim claim;
    const char *gave_up; /* the target that a user gave up on here; NULL: none */
    enum reason reason;  /* of the write, if one is needed */
    const char *message;
    bool look; /* the write requires that no GPU pod exists, so list the pods before it */
    bool look_for_holders; /* first list the pods that hold a GPU open without a request */
    enum upgrade_send send;
    struct drain drain; /* the pods of `send` */
    bool proving; /* the node runs what it should: the two members below say whether it works */
    struct proof_case proves;
    struct proof_look proof;
};

/* One step. During an upgrade it fills state, reason, message and operands of the verdict, and
 * requests a requeue for the next deadline. */
void upgrade_step(const struct node_input *in, const struct target *policy_target, struct arena *a,
                  struct node_verdict *v, struct actions *actions, struct upgrade *ret);
/* Whether the wait for jobs is over on a node claimed at that time. `ret_left_s`: seconds left; -1:
 * no limit. */
bool upgrade_jobs_may_go(const struct drain_spec *spec, int64_t claimed_s, int64_t now_s,
                         int64_t *ret_left_s);

#endif
