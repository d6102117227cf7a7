/* The difference between the marks that a node bears and those that it should: one guarded patch, or nothing. What others set
 * stays theirs: the annotation ostler.dev/marks names the keys that we set, and only those are ever taken off. */
#ifndef OSTLER_RECONCILERS_DECIDE_MARKS_H
#define OSTLER_RECONCILERS_DECIDE_MARKS_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/claim.h"
#include "reconcilers/model/node.h"
#include "reconcilers/model/policy.h"

/* What becomes of the labels that say what a node's GPUs are (model/gpu_features.h). Unlike others they change with what is seen,
 * and somebody else may write them too: the annotation says what we wrote, and one that says something else is theirs. */
enum marks_features {
    FEATURES_OFF,  /* those that are ours come off */
    FEATURES_SET,  /* they are as `features` says */
    FEATURES_KEPT, /* they stay as they were written: what there is cannot be told now */
    FEATURES_LEFT, /* they stay, and are ours no more: somebody else writes them */
};

/* What a node should bear. All zero = nothing of ours. */
struct marks {
    const json_t *labels;             /* key to value, besides the assignment; NULL: none. Borrowed */
    struct policy_taint taint;        /* set if it is enabled */
    struct assignment_ref assigned;   /* NULL or "": off */
    unsigned off;                     /* followers, as bits, that run on nodes of other pools and are not to run there */
    bool host_driver;                 /* the host has a driver of its own */
    /* The node is out of service because of us: its taint comes and goes with it; NULL: it is not. */
    const struct claim *claim;
    const char *claim_taint;          /* key of that taint, by the policy; NULL: there is none, nor a claim */
    const char *gave_up;              /* the target that a person has given up on here; NULL: none */
    enum marks_features features_rule;
    const json_t *features;           /* with SET: key to value; `labels` win over them. Borrowed */
    const char *proof;                /* what the node is proven to do, as its annotation says; NULL: nothing */
    const struct policy_taint *startup; /* keeps a new node closed; NULL: it is not wanted */
    const char *opens;                /* key of the taint that goes now, whoever has set it; NULL: none */
};

/* A guarded JSON patch (node_patch.h) that makes the node bear `wanted`; NULL when it does already. New reference. */
json_t *marks_patch(const struct node_view *view, const struct marks *wanted);
/* A guarded JSON patch that gives the node this claim, with its taint, which has the key `taint` by the policy, and leaves all
 * else as it is; without a claim: takes both off. New reference. */
json_t *marks_claim_patch(const struct node_view *view, const struct claim *claim, const char *taint);
/* Whether the node bears a taint of this key. */
bool marks_have_taint(const struct node_view *view, const char *key);
/* A guarded JSON patch that gives the node this assignment, of which stack revision the toolkit is being taken off (NULL: of
 * none), and no claim, and leaves all else as it is: the first steps of what comes off. NULL when it is so already. New
 * reference. */
json_t *marks_release_patch(const struct node_view *view, struct assignment_ref assigned,
                            const char *removal);
/* Whether the upgrade's taint is ours and there, or was: without a claim somebody has taken that away. */
bool marks_closed(const struct node_view *view);
/* Whether the node bears anything that is ours to take off. */
bool marks_any(const struct node_view *view);
/* Whether it bears what only a node with a GPU gets of us. An annotation alone proves nothing: anybody may have written it. */
bool marks_show_gpu(const struct node_view *view);

#endif
