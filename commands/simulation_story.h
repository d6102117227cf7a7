/* The timeline of a simulated rollout: what happened to each object and when, and how the
 * rollout ended. */
#ifndef OSTLER_SIMULATION_STORY_H
#define OSTLER_SIMULATION_STORY_H

#include "reconcilers/model/rollout_spec.h"
#include "sim/api/api.h"
#include "sim/world/sim.h"

struct story;

/* Records every committed change from now on. All arguments are borrowed; `spec` is the policy's
 * rollout section, with windows in simulated time. */
struct story *story_new(struct api *api, const struct sim *sim, const struct rollout_spec *spec);
/* Whether the rollout is over, or made no progress for longer than `quiet_ms` and, with
 * maintenance windows, during two of them. */
bool story_is_over(struct story *s, int64_t quiet_ms);
/* {timeline, summary}. New reference. */
json_t *story_print(const struct story *s);
/* The text for a value of `summary.ended`. */
const char *story_end_text(const char *ended);
/* Frees the recorder; no change may be committed afterwards. */
void story_free(struct story *s);

#endif
