/* What Ostler does about a fault of a node's GPUs, as `status.health.state` has it, and in a
 * sentence. It is read from what has been done (the record of the fault), so it decides nothing. */
#ifndef OSTLER_RECONCILERS_DECIDE_HEALTH_STATE_H
#define OSTLER_RECONCILERS_DECIDE_HEALTH_STATE_H

#include "base/arena.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/health_spec.h"
#include "reconcilers/model/health_status.h"

/* After this time a fault that has closed no node is not being confirmed: something else keeps the
 * node open. */
enum { HEALTH_CONFIRMING_S = 30 };

/* How a node's faults are handled. Zeros: Ostler only reports them. Borrowed. */
struct health_handling {
    const struct health_spec *spec; /* NULL: no policy manages the node */
    struct fault_record record;     /* of the node; zeros: none */
    bool left_alone;                /* its label ostler.dev/health says so */
    bool repairing;                 /* it has a claim of kind Repair */
    const char *node;               /* its name, for commands */
    int64_t now_s;                  /* epoch seconds */
};

/* Whether Ostler does more than to report faults. */
bool health_is_acted_on(const struct health_handling *handling);
/* The state of a fault, of which level, reason, address and time are used. */
enum health_state health_state_of(const struct health_status *fault,
                                  const struct health_handling *handling);
/* What Ostler does about a fault in its state, in one sentence that begins with " Ostler"; "": it
 * only reports it. From the arena or static. */
const char *health_state_sentence(const struct health_status *fault,
                                  const struct health_handling *handling, struct arena *a);
/* Whether a person must do something before the node can open. */
bool health_state_needs_person(enum health_state state, const struct health_handling *handling);
/* The sentence of a node in the state Unhealthy, and what happens next there. From the arena. */
const char *health_closed_sentence(const struct health_handling *handling, struct arena *a);
const char *health_closed_next(const struct health_status *fault,
                               const struct health_handling *handling);

#endif
