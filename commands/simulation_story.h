/* The story of a simulated rollout: what happened to whom, when, and how it ended. */
#ifndef OSTLER_SIMULATION_STORY_H
#define OSTLER_SIMULATION_STORY_H

#include "reconcilers/model/rollout_spec.h"
#include "sim/api/api.h"
#include "sim/world/sim.h"

struct story;

/* How it ended; id, the word in `summary.ended`, and what people read of it */
#define STORY_ENDS(X)                                                                                                            \
    X(TIME_IS_OVER, "TimeIsOver", "not over yet") /* --simulate-for was */                                                       \
    X(COMPLETE, "Complete", "complete")           /* every node has what the policy says */                                      \
    X(STUCK, "NobodyGoesOn", "no node makes progress") /* for longer than anything takes that Ostler waits for by itself */

enum story_end {
#define X(id, ...) STORY_##id,
    STORY_ENDS(X)
#undef X
    STORY_END_COUNT
};

/* From now on everything that is committed is taken note of. All are borrowed; `spec` is what the policy says of rollouts, with
 * windows that are looked at by the simulated clock. */
struct story *story_new(struct api *api, const struct sim *sim, const struct rollout_spec *spec);
/* Whether the rollout is over, or nobody has come further for longer than `quiet_ms`, and in two windows, where it
 * has windows. */
bool story_is_over(struct story *s, int64_t quiet_ms);
/* {timeline, summary}. New reference. */
json_t *story_tell(const struct story *s);
/* What people read of a word of `summary.ended`. */
const char *story_end_text(const char *ended);
/* When nothing is committed any more. */
void story_free(struct story *s);

#endif
