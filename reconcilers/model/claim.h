/* A claim: the annotation ostler.dev/claim of a Node, which says that the node is out of service because of Ostler, for what,
 * and how far that is. It is written in the same request as the taint ostler.dev/upgrade, and taken off in the same request as
 * that: so no node is closed without it being said for what, and none is claimed while new pods may come. */
#ifndef OSTLER_RECONCILERS_MODEL_CLAIM_H
#define OSTLER_RECONCILERS_MODEL_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/model/reason.h"
#include "reconcilers/model/revision.h"

/* id, name in the annotation, whether the node holds a slot of maxParallel */
#define CLAIM_PHASES(X)                                                                                                       \
    X(WAITING, "Waiting", false)       /* closed; jobs run to their end, nothing is sent away */                              \
    X(DRAINING, "Draining", true)      /* GPU pods are asked to leave */                                                      \
    X(UNLOADING, "Unloading", true)    /* stack off, then the driver where it changes */                                      \
    X(INSTALLING, "Installing", true)  /* the new driver, then the new stack */                                               \
    X(VALIDATING, "Validating", true)  /* every operand is up; the kubelet must have GPUs to give again */                    \
    X(FAILED, "Failed", false)         /* given up for now: stays closed, holds no slot, is tried again later */

enum claim_phase {
#define X(id, ...) CLAIM_##id,
    CLAIM_PHASES(X)
#undef X
    CLAIM_PHASE_COUNT
};

/* What the node is out of service for. */
enum claim_kind {
    CLAIM_UPGRADE,  /* to the target */
    CLAIM_ROLLBACK, /* back to the known good revision, since the target failed */
};

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
    char driver[REVISION_HASH_MAX];   /* what the node is to run; "": none */
    char stack[REVISION_HASH_MAX];
    char from_driver[REVISION_HASH_MAX]; /* what it ran before; "": none */
    char from_stack[REVISION_HASH_MAX];
    char last_stack[REVISION_HASH_MAX]; /* the stack that left the node last; "": from_stack is it */
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
/* "Waiting", "Draining", … as the annotation has it. Static text. */
const char *claim_phase_name(enum claim_phase p);
/* "Upgrade", "Rollback" */
const char *claim_kind_name(enum claim_kind k);
/* Whether a node in this phase holds a slot of maxParallel. */
bool claim_phase_has_slot(enum claim_phase p);
/* Whether what the node runs is being changed right now. */
bool claim_is_changing(const struct claim *c);
/* A claim that takes the place of another one keeps what that has to tell whoever comes after: the stack that was on the node
 * last, and the members that this version does not know. */
void claim_keep(struct claim *c, const struct claim *before);
/* The node begins anew, from what it bears now ("": none), under this claim or another one: that is what it ran before. */
void claim_begin_from(struct claim *c, const char *driver, const char *stack);
/* The claim remembers that this stack leaves the node; "": none does. */
void claim_stack_leaves(struct claim *c, const char *stack);
/* The stack that was on the node last, once it bears none; "": there was none. */
const char *claim_last_stack(const struct claim *c);
/* Whether these two are what the node is to run; "": none. */
bool claim_is_for(const struct claim *c, const char *driver, const char *stack);
/* Whether the driver changes, so that GPU pods have to leave. */
bool claim_moves_driver(const struct claim *c);
/* Whether the node bears the taint as well: all do but those whose drain timed out. */
bool claim_closes(const struct claim *c);
/* Whether autoscalers are kept from removing the node: from the drain on, for as long as it is closed. One that waits for its
 * jobs is in use. */
bool claim_keeps_node(const struct claim *c);

#endif
