/* What an actor has to look at, and when: keys on virtual time, each there once. Commits note keys; the actor looks at what is
 * then. */
#ifndef OSTLER_SIM_ACTORS_AGENDA_H
#define OSTLER_SIM_ACTORS_AGENDA_H

#include "base/map.h"
#include "sim/actors/world_spec.h"
#include "sim/world/sim.h"

/* `key` is valid during the call. */
typedef void agenda_fn(void *self, const char *key);

struct agenda {
    struct sim *sim;
    struct rng rng;
    struct spec_delay delay; /* from a note to the look */
    agenda_fn *fn;
    void *self;
    struct map items;
    struct map failed; /* keys whose looks have failed, and how often in a row */
};

/* An empty agenda with a stream of chance of its own, which `purpose` names. `sim` is borrowed. */
void agenda_init(struct agenda *g, struct sim *sim, const char *purpose, struct spec_delay delay, agenda_fn *fn, void *self);
/* Forgets all looks. */
void agenda_clear(struct agenda *g);
/* A look after the usual delay; one that is due earlier stays. */
void agenda_note(struct agenda *g, const char *key);
/* A look at this time; one that is due earlier stays. */
void agenda_at(struct agenda *g, const char *key, int64_t at_ms);
/* A look after this time, in ms; one that is due earlier stays. */
void agenda_after(struct agenda *g, const char *key, int64_t delay_ms);
/* What came of a look: one that failed is done again, the later the more have failed in a row, as the work queues of controllers
 * do it. */
void agenda_retry(struct agenda *g, const char *key);
/* A look came out well: the next failure is the first in a row. */
void agenda_succeeded(struct agenda *g, const char *key);
/* There is nothing to look at any more. */
void agenda_drop(struct agenda *g, const char *key);
/* A delay drawn with the agenda's own chance. */
int64_t agenda_draw(struct agenda *g, struct spec_delay delay);

#endif
