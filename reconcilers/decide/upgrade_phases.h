/* The phases of a claimed node, one by one, and their shared parts, for upgrade_steps.c, which has
 * the steps between them. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_PHASES_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_PHASES_H

#include "reconcilers/model/claim.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/task.h"
#include "reconcilers/decide/drain.h"
#include "reconcilers/decide/proof.h"
#include "reconcilers/decide/repair_pod.h"

/* What to do about the pods of a draining node. */
enum upgrade_send { SEND_NONE, SEND_EVICT, SEND_DELETE };

/* What a node has after the pass. Strings are static, from the arena, or borrowed from the
 * input. */
struct upgrade {
    bool under_way; /* the node was claimed, and all members apply; otherwise only `gave_up` does */
    bool untouched; /* its claim cannot be read: write nothing */
    struct assignment_ref assigned; /* NULL: none */
    bool claimed;                   /* it stays claimed with `claim` */
    struct claim claim;
    bool asks_again;     /* the claim goes before the repair has begun that a user asked for */
    const char *gave_up; /* the target that a user gave up on here; NULL: none */
    enum reason reason;  /* of the write, if one is needed */
    const char *message;
    /* What is planned requires that no pod exists that the watch has not reported: of the node's
     * pods, for `look_reason`; of those that do `job`. */
    bool look, looks_for_pod;
    enum reason look_reason;
    bool look_for_holders; /* first list the pods that hold a GPU open without a request */
    enum upgrade_send send;
    struct drain drain; /* the pods of `send` */
    bool tries;         /* an attempt of kind `tried` begins, or counts, with the write */
    bool untries;       /* the one that began at `untried_s` is taken back: its pod never ran */
    enum repair_kind tried;
    int64_t untried_s;
    bool heals;          /* the write ends a repair: the fault of the node is over */
    bool makes_pod;      /* the one-off pod that does `job` must be created */
    bool drops_pod;      /* the one that did `job` must go, so that another one does it */
    enum repair_job job; /* in phases Resetting and Rebooting */
    bool proving; /* the node runs what it should: the two members below say whether it works */
    struct proof_case proves;
    struct proof_look proof;
};

/* One pass over one claimed node. */
struct upgrade_pass {
    const struct node_pass *p;
    const struct target *t; /* what it will run in the end */
    bool falling_back;      /* that differs from what the policy asks for */
    const char *turn; /* why it does not switch to a new target yet; NULL: it need not switch */
    struct upgrade *out;
};

/* What a phase does, and its node state. */
struct upgrade_phase {
    void (*step)(struct upgrade_pass *s);
    enum node_state state;
    enum reason reason; /* NONE: the claim's own */
};
extern const struct upgrade_phase upgrade_phases[CLAIM_PHASE_COUNT];

/* The revision of a tier that the node is assigned now; "": none. */
const char *upgrade_pass_now(const struct upgrade_pass *s, enum tier tier);
/* Assigns these revisions to the node. */
void upgrade_pass_assign(struct upgrade_pass *s, struct assignment_ref to);
/* Keeps the assignment in its labels. */
void upgrade_pass_assign_unchanged(struct upgrade_pass *s);
/* Keeps what it ran before, or what an earlier attempt installed. */
void upgrade_pass_assign_as_it_was(struct upgrade_pass *s);
/* Whether no pod is left that a reboot would kill: no GPU pod where kured drains the node, else
 * none that the drain of all pods would move. If so, what is planned comes after a list of the
 * node's pods. If not, evicts them; from phase Unloading, a GPU pod that came returns the node to
 * phase Draining. */
bool upgrade_pass_is_empty(struct upgrade_pass *s);
/* Moves its claim to another phase. */
void upgrade_pass_enter(struct upgrade_pass *s, enum claim_phase phase, enum reason reason,
                        const char *message);
/* Starts phase Installing, if the records of what is to be installed exist. */
void upgrade_pass_install(struct upgrade_pass *s, enum reason reason, const char *message);
/* Moves its claim to phase Failed. `why` becomes one word, so that a claim can hold it. */
void upgrade_pass_fail(struct upgrade_pass *s, const char *why, const char *fmt, ...) PRINTF(3, 4);
/* What the node waits for in its phase. */
void upgrade_pass_describe(struct upgrade_pass *s, enum reason reason, const char *message);
/* Removes its claim. */
void upgrade_pass_release(struct upgrade_pass *s, enum reason reason, const char *message);
/* Whether all operands that it should have are up and a GPU works. If not known yet, sets what to
 * do. */
bool upgrade_pass_works(struct upgrade_pass *s);

#endif
