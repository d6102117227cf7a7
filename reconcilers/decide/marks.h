/* The difference between a node's labels, taints and annotations and the wanted ones, as one
 * guarded patch. The annotation ostler.dev/marks names the keys that Ostler set, and Ostler removes
 * only those. */
#ifndef OSTLER_RECONCILERS_DECIDE_MARKS_H
#define OSTLER_RECONCILERS_DECIDE_MARKS_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/claim.h"
#include "reconcilers/model/node.h"
#include "reconcilers/model/policy.h"

/* What happens to the GPU feature labels (model/gpu_features.h). Unlike other labels they change
 * with the agent's report, and another writer may set them too. ostler.dev/marks records what
 * Ostler wrote; a label with another value belongs to the other writer. */
enum marks_features {
    FEATURES_OFF,  /* remove those that are Ostler's */
    FEATURES_SET,  /* set them to `features` */
    FEATURES_KEPT, /* leave them as written: their value is not known now */
    FEATURES_LEFT, /* leave them and disown them: another writer sets them */
};

/* What a node should have. All zero: nothing of Ostler's. */
struct marks {
    const json_t *labels;           /* key to value, without the assignment; NULL: none. Borrowed */
    struct policy_taint taint;      /* set if enabled */
    struct assignment_ref assigned; /* NULL or "": none */
    unsigned off; /* followers, as bits, that run in other pools but must not run here */
    /* Followers, as bits, that run here and get the GPUs from the default runtime (model/operand.h:
     * FOLLOWER_DEFAULT_RUNTIME). */
    unsigned default_runtime;
    bool host_driver; /* the host has its own driver */
    /* Ostler has taken the node out of service: the upgrade taint goes with the claim; NULL: it has
     * not. */
    const struct claim *claim;
    /* A claim that goes before the repair has begun that a user asked for: the request is there
     * again; NULL: none. */
    const struct claim *asked;
    const char *claim_taint; /* key of that taint, from the policy; NULL: no taint and no claim */
    const char *gave_up;     /* the target that a user gave up on here; NULL: none */
    enum marks_features features_rule;
    const json_t *features; /* with SET: key to value; `labels` override them. Borrowed */
    const char *proof;      /* text of the validation annotation; NULL: none */
    const struct policy_taint *startup; /* taint that keeps a new node closed; NULL: none */
    const char *opens; /* key of the taint to remove now, whoever set it; NULL: none */
    const char *fault; /* text of the record of a fault; NULL: none */
    bool unhealthy;    /* the taint that goes with it; without it any taint of that key goes */
};

/* A guarded JSON patch (node_patch.h) that gives the node `wanted`; NULL: nothing changes. New
 * reference. */
json_t *marks_patch(const struct node_view *view, const struct marks *wanted);
/* A guarded JSON patch that sets only this claim and its taint with key `taint`, or removes both if
 * `claim` is NULL. The record of a fault and its taint stay, and so does what a user asked for. New
 * reference. */
json_t *marks_claim_patch(const struct node_view *view, const struct claim *claim,
                          const char *taint);
/* Whether the node has a taint with this key. */
bool marks_have_taint(const struct node_view *view, const char *key);
/* A guarded JSON patch for the first steps of a removal: it sets this assignment and removes the
 * claim, and the record of a fault with its taint. `removal`: the stack revision whose toolkit is
 * being removed; NULL: none. NULL: nothing changes. New reference. */
json_t *marks_release_patch(const struct node_view *view, struct assignment_ref assigned,
                            const char *removal);
/* Whether the upgrade taint is Ostler's and present, or was: without a claim, a user removed the
 * claim. */
bool marks_closed(const struct node_view *view);
/* Whether the node has anything that Ostler would remove. */
bool marks_any(const struct node_view *view);
/* Whether the node has labels or taints that Ostler gives only to GPU nodes. An annotation alone
 * proves nothing, because any writer may have set it. */
bool marks_show_gpu(const struct node_view *view);

#endif
