/* The story of a simulated rollout: what happened to whom, when, and how it ended. */
#ifndef OSTLER_SIMULATION_STORY_H
#define OSTLER_SIMULATION_STORY_H

#include "sim/api/api.h"
#include "sim/world/sim.h"

struct story;

/* From now on everything that is committed is taken note of. Both are borrowed. */
struct story *story_new(struct api *api, const struct sim *sim);
/* Whether the rollout is over, or nothing has happened for so long while nothing waits for a time that is to come. */
bool story_is_over(const struct story *s, int64_t quiet_ms);
/* {timeline, summary}. New reference. */
json_t *story_tell(const struct story *s);
/* When nothing is committed any more. */
void story_free(struct story *s);

#endif
