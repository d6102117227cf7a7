/* The phases of a claimed node, one by one, and what all its steps are made of. For upgrade_steps.c, which says what comes
 * between them. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_PHASES_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_PHASES_H

#include "reconcilers/decide/upgrade_steps.h"

/* One pass over one claimed node. */
struct upgrade_pass {
    const struct node_input *in;
    const struct target *t; /* what it is to run in the end */
    bool back;              /* that is not what the policy says */
    const char *turn;       /* why it stays on its way to something else yet; NULL: it does not */
    struct arena *a;
    struct node_verdict *v;
    struct actions *actions;
    struct upgrade *out;
};

/* What a phase does, and how a node in it is shown. */
struct upgrade_phase {
    void (*step)(struct upgrade_pass *s);
    enum node_state state;
    enum reason reason; /* NONE: the claim's own */
};
extern const struct upgrade_phase upgrade_phases[CLAIM_PHASE_COUNT];

/* The revision of a tier that the node is assigned now; "": none. */
const char *upgrade_pass_now(const struct upgrade_pass *s, enum tier tier);
/* The node is assigned this from now on. */
void upgrade_pass_assign(struct upgrade_pass *s, struct assignment_ref to);
/* It stays assigned what its labels say. */
void upgrade_pass_assign_unchanged(struct upgrade_pass *s);
/* It keeps what it ran before, or what a try before this one has put there. */
void upgrade_pass_assign_as_it_was(struct upgrade_pass *s);
/* Its claim gets to another phase. */
void upgrade_pass_enter(struct upgrade_pass *s, enum claim_phase phase, enum reason reason,
                    const char *message);
/* Its claim comes off. */
void upgrade_pass_release(struct upgrade_pass *s, enum reason reason, const char *message);
/* Whether all that it was to have is there, and a GPU of it works. Says what to do where that is not known yet. */
bool upgrade_pass_works(struct upgrade_pass *s);

#endif
