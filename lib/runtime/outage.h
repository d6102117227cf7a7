/* What is wrong with the API server as a whole, told once for all who notice: a line for each kind of trouble, and one when it is
 * over. Without it each list, watch and lease would say the same. */
#ifndef OSTLER_RUNTIME_OUTAGE_H
#define OSTLER_RUNTIME_OUTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Zero-initialised = all is well. */
struct outage {
    size_t failing; /* how many of those who take part have trouble of these kinds */
    unsigned told;  /* kinds that were told of since it began, as bits */
};

/* Whether trouble of this kind is the server's, or that of the way there, and the same for everybody. */
bool outage_is_general(enum err_kind kind);
/* Takes note of it, and logs what is new; nothing where there is no outage to share. One who takes part had trouble of a kind
 * `before` (ERR_NONE: none) and has it of a kind `now`. `sentence` says what happened. */
void outage_note(struct outage *o, enum err_kind before, enum err_kind now, const char *sentence);

#endif
