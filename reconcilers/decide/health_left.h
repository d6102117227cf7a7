/* Which faults of a node a user has left alone: the one that the record names, and what belongs to
 * it on the same GPU. A fault that is new and asks for action closes the node again.
 *
 * A fault that is left alone covers, in the boot of its name:
 * - GpuLost for Xid 79 and the reverse: the GPU is off the bus in both;
 * - the driver's recovery action, if the fault is such a GPU or an Xid, and asks for no less;
 * - faults of the kernel log that came before the user's decision, and ask for no more. */
#ifndef OSTLER_RECONCILERS_DECIDE_HEALTH_LEFT_H
#define OSTLER_RECONCILERS_DECIDE_HEALTH_LEFT_H

#include "reconcilers/model/fault_record.h"

/* A fault that a user has left alone. */
struct health_left {
    const struct fault_name *name; /* borrowed; NULL: none */
    enum health_level level;       /* what it asked for then */
};

/* A fault that may be covered. Borrowed. */
struct health_seen {
    const char *word, *address;
    enum health_level level;
    int64_t
        first_s; /* when the kernel log showed it first, epoch seconds; 0: another source does */
};

bool health_left_covers(const struct health_left *left, const struct health_seen *seen);
/* Whether both words say of a GPU that it is off the bus. */
bool health_left_same_event(const char *word, const char *other);

#endif
