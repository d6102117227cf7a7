/* Whether a node is proven to work with what it runs, and what is done to prove it: a pod like anybody's asks for one unit of
 * whatever the node has to give, and runs a CUDA program on it. That it finds no place means that it waits, and nothing else. */
#ifndef OSTLER_RECONCILERS_DECIDE_PROOF_H
#define OSTLER_RECONCILERS_DECIDE_PROOF_H

#include "base/arena.h"
#include "reconcilers/model/proof.h"
#include "reconcilers/decide/node_plan.h"

enum proof_result {
    PROOF_NEEDLESS, /* the policy asks for none, or nothing of ours offers GPUs there */
    PROOF_HOLDS,    /* the node was proven to run this before */
    PROOF_PASSES,   /* it is proven now: that has to be written */
    PROOF_WAITS,
    PROOF_FAILS,
};

/* What is to be proven. Its operands are up, and the kubelet has GPUs to give. */
struct proof_case {
    struct assignment_ref of;
    /* Its pods were not sent away for this: where they use every GPU, that as many are offered as before stands in. */
    bool may_count;
    bool nothing_ours; /* no operand of ours has a part in its GPUs: they are somebody else's to prove */
    unsigned gpus_before;
    bool needs_all;             /* nothing but its driver was changed: fewer GPUs than before are not what is to be proven */
};

struct proof_look {
    enum proof_result result;
    enum reason reason;   /* NONE where nothing has to be said */
    const char *message;  /* from the arena or static */
    bool timed;           /* with WAITS: it is the node that takes so long, so that its deadline counts */
    bool make;            /* the pod has to be made */
    const struct pod *keep; /* the pod that stays as it is; NULL: none does */
    struct proof proof;   /* with HOLDS and PASSES: what the node's annotation is to say */
};

/* Asks to be called again when a proof that failed is to be tried anew. */
void proof_look(const struct node_input *in, const struct proof_case *c, struct arena *a, struct actions *actions,
                struct proof_look *ret);
/* Plans what the look asks for: the pod is made, and pods that nobody waits for are deleted. An error: the pod cannot be made. */
int proof_act(const struct node_input *in, const struct proof_case *c, const struct proof_look *look, struct actions *actions,
              struct err *e);
/* The pods of proofs that nobody waits for go: all of them. */
void proof_clear(const struct node_input *in, struct actions *actions);
/* Whether the look leaves the node proven, or in no need of it. */
bool proof_is_done(const struct proof_look *look);

/* The annotation's text of a node that is being changed: what it was proven to run counts no more, but what was seen there is
 * still known. NULL: it has none. From the arena. */
const char *proof_outdated(const struct node_view *view, struct arena *a);
/* The proof that the node's annotation holds; false: it holds none, of nothing. */
bool proof_of_node(const struct node_view *view, struct proof *ret);

#endif
