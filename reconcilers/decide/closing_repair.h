/* Which repair a node asks for because of a fault, once it is decided whether it is closed. */
#ifndef OSTLER_RECONCILERS_DECIDE_CLOSING_REPAIR_H
#define OSTLER_RECONCILERS_DECIDE_CLOSING_REPAIR_H

#include "reconcilers/decide/closing.h"

/* `asks`: a fault is known that asks for a closed node. Sets the repair, and since when it is asked
 * for. */
void closing_want_repair(const struct closing_input *in, bool asks, struct closing *out);

#endif
