/* Problems of the API server as a whole, logged once for all lists, watches and leases. Each
 * kind of problem gets one line, and its end another. */
#ifndef OSTLER_RUNTIME_OUTAGE_H
#define OSTLER_RUNTIME_OUTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Zero-initialised = no problem. */
struct outage {
    size_t failing; /* participants that have such a problem */
    unsigned told;  /* kinds logged since the outage began, as bits */
};

/* Whether errors of this kind concern the API server or the way to it, and so affect all
 * participants. */
bool outage_is_general(enum err_kind kind);
/* Records a participant's change from error kind `before` to `now` (ERR_NONE: no problem) and
 * logs what is new. `sentence` says what happened. `o` NULL: no effect. */
void outage_note(struct outage *o, enum err_kind before, enum err_kind now, const char *sentence);

#endif
