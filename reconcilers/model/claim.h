/* A claim: the annotation ostler.dev/claim, which says why Ostler has taken a node out of service
 * and in which phase the node is. Ostler writes and removes the claim and the taint
 * ostler.dev/upgrade in the same request. So a tainted node always has its reason, and a claimed
 * node gets no new pods. */
#ifndef OSTLER_RECONCILERS_MODEL_CLAIM_H
#define OSTLER_RECONCILERS_MODEL_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/model/assignment.h"
#include "reconcilers/model/claim_phases.h"
#include "reconcilers/model/reason.h"

/* Why the node is out of service. All kinds use the phases of claim_phases.h. Columns: id, then
 * the columns of struct claim_kind_row */
#define CLAIM_KINDS(X)                                                                             \
    /* to the target */                                                                            \
    X(UPGRADE, "Upgrade", "upgrade", UPGRADE_FAILED, UPGRADED, true, false, false, false)          \
    /* to the known good one; the target failed */                                                 \
    X(ROLLBACK, "Rollback", "upgrade", UPGRADE_FAILED, UPGRADED, false, true, true, false)         \
    /* its GPUs are reset, or it reboots */                                                        \
    X(REPAIR, "Repair", "repair", REPAIR_FAILED, REPAIRED, false, false, false, true)

enum claim_kind {
#define X(id, ...) CLAIM_##id,
    CLAIM_KINDS(X)
#undef X
        CLAIM_KIND_COUNT
};

/* One row of the table. */
struct claim_kind_row {
    const char *name;         /* in the annotation; also the taint's value */
    const char *noun;         /* in sentences: "the upgrade failed" */
    enum reason failed, done; /* of the writes that end it */
    bool counts;              /* a failure counts against the revision that the claim installs */
    /* The claim installs a known good revision; else the node ran a known good revision before. */
    bool known_good;
    bool restores; /* the node returns to a known good revision */
    bool repairs;  /* the driver is unloaded in any case, so that GPUs can be reset */
};
extern const struct claim_kind_row claim_kinds[CLAIM_KIND_COUNT];

/* Maximum lengths: stored policy uid, stored reason, annotation that is parsed, message of
 * claim_parse(). */
enum { CLAIM_UID_MAX = 64, CLAIM_REASON_MAX = 64, CLAIM_TEXT_MAX = 2048, CLAIM_WHY_MAX = 160 };
/* Room for members of newer versions: several times what one version has added so far. */
enum { CLAIM_MORE_MAX = 512 };

/* Effect of the taint that goes with a claim. The taint's value is the claim's kind. */
#define CLAIM_TAINT_EFFECT "NoSchedule"

struct claim {
    char policy[CLAIM_UID_MAX]; /* uid of the policy that caused the claim */
    int64_t generation;         /* of that policy */
    enum claim_kind kind;
    enum claim_phase phase;
    int64_t since_s;        /* start of this phase, epoch seconds, wall clock */
    int64_t claimed_s;      /* when it was made; after a wait for jobs, when the last one ended */
    unsigned attempt;       /* from 1; above 1, earlier attempts failed */
    unsigned gpus;          /* GPUs of the node when it was claimed */
    struct assignment to;   /* what the node will run */
    struct assignment from; /* what it ran before */
    char last_stack[REVISION_HASH_MAX]; /* stack that last left the node; "": the stack in `from` */
    char reason[CLAIM_REASON_MAX];      /* in phase FAILED: one word; else "" */
    /* The node's boot that a reboot of Ostler's is to end, str_hash_id() of its id; 0: none. */
    uint64_t boot;
    bool asked;    /* a user asked for the repair */
    bool sentinel; /* kured was asked for that reboot, by a file */
    /* Why the repair ends without a reset or a reboot, one word (repair_call_off.h); "": it goes
     * on. */
    char called_off[CLAIM_REASON_MAX];
    /* Members that this version does not know, as a JSON object, kept when the claim is rewritten;
     * "": none. */
    char more[CLAIM_MORE_MAX];
};

/* Parses the annotation. False if this version does not understand it. Then `ret_why`
 * (CLAIM_WHY_MAX bytes; may be NULL) gets a clause such as "it is not JSON"; otherwise `ret_why`
 * does not change. Any user who can edit nodes may have written the text, so only its format is
 * trusted. Unknown members are kept. A newer version that adds a member which must not be ignored
 * also raises the claim's version, "v". */
bool claim_parse(const char *text, struct claim *ret, char *ret_why);
/* Why the claim failed; NONE: it has not. OTHER: `reason` holds a word that is not in the table. */
enum reason claim_reason(const struct claim *c);
/* The annotation's text. Owned by the caller. */
char *claim_text(const struct claim *c);
/* Whether the software on the node is being changed now. */
bool claim_is_changing(const struct claim *c);
/* Whether this attempt has changed nothing on a node that is assigned `now`. An earlier attempt may
 * have. */
bool claim_is_as_it_was(const struct claim *c, struct assignment_ref now);
/* Copies what a replacing claim must keep from its predecessor: the last stack and unknown
 * members. */
void claim_keep(struct claim *c, const struct claim *before);
/* Restarts the claim from what the node is assigned now, and records that as what it ran before. */
void claim_begin_from(struct claim *c, struct assignment_ref now);
/* Records that this stack leaves the node; "": none does. */
void claim_stack_leaves(struct claim *c, const char *stack);
/* The stack that last ran on a node that has none now; "": there was none. */
const char *claim_last_stack(const struct claim *c);
/* Whether `target` is what the node will run. A repair that brings back what the node ran is for
 * any target: the node moves to that afterwards. */
bool claim_is_for(const struct claim *c, struct assignment_ref target);
/* Whether GPU pods must leave: a tier that drains changes, or GPUs are repaired. */
bool claim_drains(const struct claim *c);
/* Whether it is the attempt to repair the node that a user asked for. */
bool claim_is_asked(const struct claim *c);
/* Whether it is a repair that has failed. */
bool claim_is_failed_repair(const struct claim *c);
/* Whether the node also has the taint. All claimed nodes do, except after a drain timeout. */
bool claim_closes(const struct claim *c);
/* Whether Ostler keeps autoscalers from removing the node: from the drain on, while it is tainted.
 * A node that waits for its jobs is in use anyway. */
bool claim_keeps_node(const struct claim *c);

#endif
