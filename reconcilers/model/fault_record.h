/* The annotation ostler.dev/fault of a Node: what Ostler has done about a fault of the node's GPUs.
 * Ostler writes it in the same request as the taint ostler.dev/unhealthy, so that both survive a
 * restart of Ostler, and a user who removes the taint is understood. Any user who can edit nodes
 * may have written it: only its format is trusted. */
#ifndef OSTLER_RECONCILERS_MODEL_FAULT_RECORD_H
#define OSTLER_RECONCILERS_MODEL_FAULT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/model/health_status.h"
#include "reconcilers/model/node.h"
#include "reconcilers/model/repair_try.h"

/* Columns: id, name in the annotation */
#define FAULT_STATES(X)                                                                            \
    X(OVER, "Over")     /* no fault: only the repairs of the last days are remembered */           \
    X(CLOSED, "Closed") /* Ostler keeps new pods off the node, or the device plugin does so with \
                             the GPU */ \
    X(PROVING, "Proving") /* the fault has ended; the node opens when a GPU is validated */        \
    X(IGNORED, "Ignored") /* a user removed the taint: Ostler does nothing about this fault */     \
    X(BRAKED, "Braked")   /* the storm brake was on when it came: a user decides */

enum fault_state {
#define X(id, ...) FAULT_##id,
    FAULT_STATES(X)
#undef X
        FAULT_STATES_LEN
};

/* Longest annotation that is parsed. */
enum { FAULT_TEXT_MAX = 1024 };

/* Which fault. */
struct fault_name {
    char reason[HEALTH_WORD_MAX];     /* "Xid79"; "": none */
    char address[HEALTH_ADDRESS_MAX]; /* of the GPU; "": not of one GPU */
    uint64_t boot;                    /* str_hash_id() of the boot id that it was seen in */
    int64_t left_s;          /* when a user left it alone, epoch seconds; 0: not so, or not known */
    enum health_level level; /* what it asked for then; NONE: the same */
};

struct fault_record {
    enum fault_state state;
    /* The fault; all are empty with state OVER. */
    char reason[HEALTH_WORD_MAX];     /* "Xid79" */
    char address[HEALTH_ADDRESS_MAX]; /* of the GPU; "": not of one GPU */
    uint64_t boot;                    /* str_hash_id() of the boot id that it was seen in */
    int64_t since_s;                  /* when Ostler wrote this state, epoch seconds */
    enum health_level level;          /* with IGNORED: what it asked for then; NONE: not known */
    bool tainted;                     /* with CLOSED and PROVING: the taint is there, too */
    /* How often the fault came back while a GPU was validated. */
    uint8_t relapses;
    /* Another fault, which a user has left alone. */
    struct fault_name left;
    struct repair_try tries[REPAIRS_MAX]; /* the oldest first */
    uint8_t tries_len;
};

/* Parses the annotation; false: it is not one that Ostler writes, and `ret` is all zero, as for a
 * node without it. */
bool fault_record_parse(const char *text, struct fault_record *ret);
/* The same of a node's annotation. */
bool fault_record_of(const struct node_view *view, struct fault_record *ret);
/* Whether the node is closed in this state, or the device plugin withholds its bad GPU. */
bool fault_state_closes(enum fault_state state);
/* The annotation's text; NULL: nothing is to be remembered. Owned by the caller. */
char *fault_record_text(const struct fault_record *r);
/* The fault is over. One that a user left alone takes its place. */
void fault_record_end(struct fault_record *r, int64_t now_s);
/* Adds an attempt; the oldest one goes if there are too many. */
void fault_record_try(struct fault_record *r, enum repair_kind kind, int64_t at_s);
/* Takes the newest attempt back, if it is of this kind and began at `since_s` or later: it never
 * ran. */
void fault_record_untry(struct fault_record *r, enum repair_kind kind, int64_t since_s);
/* How many attempts of this kind began within the last `per_s` seconds. One from the future counts:
 * a clock was wrong. */
unsigned fault_record_tries(const struct fault_record *r, enum repair_kind kind, int64_t per_s,
                            int64_t now_s);
/* The kind of the newest attempt that has begun at that time or later; REPAIR_KINDS: none has. */
enum repair_kind fault_record_tried(const struct fault_record *r, int64_t since_s);
struct fault_name fault_record_name(const struct fault_record *r);

#endif
