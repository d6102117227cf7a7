/* An actor's work queue: keys with due times in virtual time, each key at most once. Commits add
 * keys; the actor syncs a key when it is due. */
#ifndef OSTLER_SIM_ACTORS_AGENDA_H
#define OSTLER_SIM_ACTORS_AGENDA_H

#include <jansson.h>

#include "base/map.h"
#include "sim/actors/world_spec.h"
#include "sim/world/sim.h"

/* `key` is valid during the call. */
typedef void agenda_fn(void *self, const char *key);

struct agenda {
    struct sim *sim;
    struct rng rng;
    struct spec_delay delay; /* from agenda_note() to the sync */
    agenda_fn *fn;
    void *self;
    struct map items;
    struct map failed; /* keys whose syncs failed, with the delay of the last retry */
};

/* Initializes an empty agenda with its own random stream, named by `purpose`. `sim` is borrowed. */
void agenda_init(struct agenda *g, struct sim *sim, const char *purpose, struct spec_delay delay,
                 agenda_fn *fn, void *self);
void agenda_clear(struct agenda *g);
/* Schedules a sync after the usual delay, unless one is due earlier. */
void agenda_note(struct agenda *g, const char *key);
/* The same for "namespace/name" of an object. */
void agenda_note_object(struct agenda *g, const json_t *object);
/* Schedules a sync at this time, unless one is due earlier. */
void agenda_at(struct agenda *g, const char *key, int64_t at_ms);
/* Schedules a sync after this delay in ms, unless one is due earlier. */
void agenda_after(struct agenda *g, const char *key, int64_t delay_ms);
/* A sync failed: retries with exponential backoff, like the work queues of controllers. */
void agenda_retry(struct agenda *g, const char *key);
/* A sync succeeded: resets the backoff. */
void agenda_succeeded(struct agenda *g, const char *key);
/* The delay after this one (0: none yet): it doubles from `min_ms` to `max_ms`. */
int64_t agenda_backoff(int64_t ms, int64_t min_ms, int64_t max_ms);
void agenda_drop(struct agenda *g, const char *key);
/* Draws a random delay from the agenda's stream. */
int64_t agenda_draw(struct agenda *g, struct spec_delay delay);

#endif
