/* What is known of a node's faults when it is decided whether it is closed: the worst one, besides
 * those that a user has left alone. */
#ifndef OSTLER_RECONCILERS_DECIDE_CLOSING_KNOWN_H
#define OSTLER_RECONCILERS_DECIDE_CLOSING_KNOWN_H

#include "reconcilers/decide/closing.h"

/* Strings are from the arena, static, or borrowed from the input. */
struct closing_known {
    enum health_level level;
    const char *word, *address; /* "": no fault */
    bool log_alone;             /* only the kernel log shows the fault */
    bool hard;                  /* the PCI bus shows one */
    bool kept;                  /* NVML is silent about it */
    bool left;                  /* it is one that a user has left alone, and there is no other */
};

/* Needs of the input the record, the health and the boot. */
void closing_know(const struct closing_input *in, struct arena *a, struct closing_known *ret);
/* Whether the record is about this GPU, in this boot. */
bool closing_is_of_gpu(const struct closing_input *in, const struct closing_known *known);
/* Whether a node that is not closed is to be closed for it, if no brake is on: not for what a user
 * has left alone, and for what the brake has only for another GPU, for a new boot or if it is
 * hard. */
bool closing_is_due(const struct closing_input *in, const struct closing_known *known);
/* What the fault of the record asks for now, be it the worst or not; NONE: it is not reported. */
enum health_level closing_own_level(const struct closing_input *in);
/* Whether a name is of this boot, or of a fault that NVML reported before it and has not repeated
 * since. */
bool closing_is_of_boot(const struct closing_input *in, const struct closing_known *known,
                        uint64_t boot);

#endif
