/* The message of a claimed node: what it waits for, since when, what happens next and when. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_MESSAGE_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_MESSAGE_H

#include "base/arena.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/health_spec.h"
#include "reconcilers/model/rollout_spec.h"

/* All borrowed. */
struct upgrade_story {
    const struct claim *claim;
    const struct rollout_spec *spec;
    const struct health_spec *health;
    const char *what; /* the object that it waits for, and why */
    int64_t from_s;   /* start of the phase's timeout: not before the node was up and watched */
};

/* From the arena. It stays the same while the facts do. */
const char *upgrade_sentence(const struct upgrade_story *s, struct arena *a);
/* The part of that sentence about what happens next. From the arena. `ret_until_s`: when the phase
 * ends by itself; 0: never. */
const char *upgrade_next(const struct upgrade_story *s, struct arena *a, int64_t *ret_until_s);

#endif
