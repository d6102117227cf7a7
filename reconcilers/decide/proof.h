/* GPU validation: whether a node is proven to work with what it runs, and the pod that proves it.
 * The pod requests one GPU or slice like a user's pod and runs a CUDA program on it. If the pod is
 * not scheduled, validation waits. */
#ifndef OSTLER_RECONCILERS_DECIDE_PROOF_H
#define OSTLER_RECONCILERS_DECIDE_PROOF_H

#include "base/arena.h"
#include "reconcilers/model/proof.h"
#include "reconcilers/decide/node_types.h"

enum proof_result {
    PROOF_NEEDLESS, /* the policy asks for none, or Ostler offers no GPUs there */
    PROOF_HOLDS,    /* the node was already validated with this */
    PROOF_PASSES,   /* it has just passed: this must be written */
    PROOF_WAITS,
    PROOF_FAILS,
};

/* What to validate. The operands are up and the kubelet offers GPUs. */
struct proof_case {
    struct assignment_ref of;
    /* This change evicted no pods of the node. If pods use every GPU, it suffices that the kubelet
     * offers as many as before. */
    bool may_count;
    bool nothing_ours; /* no operand of Ostler's affects its GPUs, so others must validate them */
    unsigned gpus_before;
    /* Fewer GPUs than before do not pass: only the driver was changed, or a fault has ended, which
     * a GPU that does not come back after a boot only seems to do. */
    bool needs_all;
};

struct proof_look {
    enum proof_result result;
    enum reason reason;     /* NONE: nothing to report */
    const char *message;    /* from the arena or static */
    bool timed;             /* with WAITS: the node causes the delay, so its deadline applies */
    bool make;              /* create the pod */
    bool voids;             /* with WAITS: the validation that the node has is void (doubt.h) */
    const struct pod *keep; /* the pod to keep; NULL: none */
    struct proof proof;     /* with HOLDS and PASSES: the content of the node's annotation */
};

/* Requests a requeue for when a failed validation is retried. */
void proof_look(const struct node_pass *p, const struct proof_case *c, struct proof_look *ret);
/* Plans what the look asks for: creates the pod, deletes obsolete pods. A pod that cannot be
 * created never validates anything under this policy: the verdict is a failure. */
void proof_act(const struct node_pass *p, const struct proof_case *c,
               const struct proof_look *look);
/* Plans the deletion of all validation pods. */
void proof_clear(const struct node_pass *p);
/* Whether the node is validated or needs no validation. */
bool proof_is_done(const struct proof_look *look);

/* The annotation of a node that is being changed: it loses the validated revisions and keeps the
 * facts. NULL: the node has no annotation. From the arena. */
const char *proof_outdated(const struct node_view *view, struct arena *a);
/* Reads the node's annotation; false: it has none or an invalid one. */
bool proof_of_node(const struct node_view *view, struct proof *ret);
/* The full image reference for a node with a driver of these inputs (NULL: a driver that Ostler did
 * not install). If the policy leaves the sample's version open, it is one that this driver can run.
 * NULL: Ostler's own image. Owned by the caller. */
char *proof_image(const struct policy *policy, const json_t *driver_inputs);

#endif
