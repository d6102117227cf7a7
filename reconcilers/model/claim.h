/* A claim: the annotation ostler.dev/claim of a Node, which says that the node is out of service because of Ostler, for what,
 * and how far that is. It is written in the same request as the taint ostler.dev/upgrade, and taken off in the same request as
 * that: so no node is closed without it being said for what, and none is claimed while new pods may come. */
#ifndef OSTLER_RECONCILERS_MODEL_CLAIM_H
#define OSTLER_RECONCILERS_MODEL_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/model/assignment.h"
#include "reconcilers/model/claim_phases.h"
#include "reconcilers/model/reason.h"

/* What the node is out of service for. Claims of all kinds pass the phases of claim_phases.h.
 * Whether GPU pods are drained is a matter of the tiers that change.
 * id, name, counts, known_good and restores as in struct claim_kind_row */
#define CLAIM_KINDS(X)                                                                             \
    X(UPGRADE, "Upgrade", true, false, false)  /* to the target */                                 \
    X(ROLLBACK, "Rollback", false, true, true) /* to the known good revision: the target failed */

enum claim_kind {
#define X(id, ...) CLAIM_##id,
    CLAIM_KINDS(X)
#undef X
    CLAIM_KIND_COUNT
};

/* One row of the table. */
struct claim_kind_row {
    const char *name; /* in the annotation; the taint's value */
    bool counts;      /* a failure speaks against the revision that the claim brings */
    bool known_good;  /* the claim brings what is known to be good, else the node ran that before */
    bool restores;    /* the node is on its way back, to what is known to be good */
};
extern const struct claim_kind_row claim_kinds[CLAIM_KIND_COUNT];

/* Longest policy uid and reason that are kept, longest annotation that is read, and longest sentence of claim_parse(). */
enum { CLAIM_UID_MAX = 64, CLAIM_REASON_MAX = 64, CLAIM_TEXT_MAX = 2048, CLAIM_WHY_MAX = 160 };
/* Room for the members that this version does not know: several times what one version has added so far. */
enum { CLAIM_MORE_MAX = 512 };

/* The taint that goes with a claim; its value is the claim's kind. */
#define CLAIM_TAINT_EFFECT "NoSchedule"

struct claim {
    char policy[CLAIM_UID_MAX];       /* uid of the policy that it was made for */
    int64_t generation;               /* of that policy */
    enum claim_kind kind;
    enum claim_phase phase;
    int64_t since_s;                  /* when this phase began, seconds of the epoch by the wall clock */
    int64_t claimed_s;                /* when the claim was made; where jobs ended by themselves, when the last of them had */
    unsigned attempt;                 /* from 1; more than that: it failed before */
    unsigned gpus;                    /* that the node had when it was claimed */
    struct assignment to;             /* what the node is to run */
    struct assignment from;           /* what it ran before */
    char last_stack[REVISION_HASH_MAX]; /* that left the node last; "": that of `from` is it */
    char reason[CLAIM_REASON_MAX];    /* with FAILED: one word; else "" */
    char more[CLAIM_MORE_MAX]; /* members that this version does not know, as a JSON object; "": none. They are written again */
};

/* The claim that an annotation holds. False: it is none that this version understands; `ret_why` (CLAIM_WHY_MAX bytes; may be
 * NULL) is then a sentence part such as "it is not JSON"; else it is left as it is. The text comes from a node that anybody may
 * have annotated: nothing in it is trusted beyond its form. A member that this version does not know is kept: a newer version
 * that wrote one which must not be ignored has raised the claim's version, "v". */
bool claim_parse(const char *text, struct claim *ret, char *ret_why);
/* Why it failed; NONE: it has not. OTHER: its `reason` is somebody else's word. */
enum reason claim_reason(const struct claim *c);
/* The annotation's text. Owned by the caller. */
char *claim_text(const struct claim *c);
/* Whether what the node runs is being changed right now. */
bool claim_is_changing(const struct claim *c);
/* Whether nothing was changed on a node that is assigned `now`. An attempt before this one may have
 * put something else there. */
bool claim_is_as_it_was(const struct claim *c, struct assignment_ref now);
/* A claim that takes the place of another one keeps what that has to tell whoever comes after: the stack that was on the node
 * last, and the members that this version does not know. */
void claim_keep(struct claim *c, const struct claim *before);
/* The node begins anew, from what it bears now, under this claim or another one: that is what it
 * ran before. */
void claim_begin_from(struct claim *c, struct assignment_ref now);
/* The claim remembers that this stack leaves the node; "": none does. */
void claim_stack_leaves(struct claim *c, const char *stack);
/* The stack that was on the node last, once it bears none; "": there was none. */
const char *claim_last_stack(const struct claim *c);
/* Whether this is what the node is to run. */
bool claim_is_for(const struct claim *c, struct assignment_ref target);
/* Whether GPU pods have to leave, since a tier that drains changes. */
bool claim_drains(const struct claim *c);
/* Whether the node bears the taint as well: all do but those whose drain timed out. */
bool claim_closes(const struct claim *c);
/* Whether autoscalers are kept from removing the node: from the drain on, for as long as it is closed. One that waits for its
 * jobs is in use. */
bool claim_keeps_node(const struct claim *c);

#endif
