/* A verdict on the health of a node's GPUs in words. */
#ifndef OSTLER_RECONCILERS_DECIDE_HEALTH_SENTENCE_H
#define OSTLER_RECONCILERS_DECIDE_HEALTH_SENTENCE_H

#include "base/arena.h"
#include "reconcilers/decide/health.h"

/* The verdict's reason in one word, as the status has it: the reason's text, followed by the number
 * of an Xid or SXid ("Xid79"). So the table of reasons needs no row for each number. From the arena
 * or static. */
const char *health_word(const struct health_verdict *v, struct arena *a);
/* How a message ends: what Ostler does, and whether a person must do something. */
struct health_ending {
    enum health_state state;
    const char *does; /* a sentence that begins with a blank; "": it only reports the fault */
    bool person;
};

/* Which GPU, what happened, what it means, what a person should do. At most HEALTH_MESSAGE_MAX
 * bytes. From the arena. */
const char *health_sentence(const struct health_input *in, const struct health_verdict *v,
                            struct arena *a);
/* The same with what Ostler does. If a person has to repair the GPU, it names what a support ticket
 * needs. */
const char *health_message(const struct health_input *in, const struct health_verdict *v,
                           const struct health_ending *ending, struct arena *a);
/* The same for a fact that stands (health_kept()), from its message. */
const char *health_message_kept(const struct health_status *kept,
                                const struct health_ending *ending, struct arena *a);

#endif
