/* What keeps one node back whatever the others do, and for how long. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_GATE_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_GATE_H

#include "reconcilers/decide/rollout_view.h"

/* A node that is closed and not changed returns to service when its turn cannot come within this time. */
enum { GATE_MINUTES_S = 300 };

/* What holds for all nodes. */
struct gates {
    const struct rollout_input *in;
    enum rollout_hold closed; /* paused, not approved, or no window: nothing begins; NONE: nodes may begin */
    int64_t changes_s;        /* when that is otherwise by itself; INT64_MAX: not that we know */
};

/* `plan_hash`: of the present plan. Borrows `in`. */
void gates_make(const struct rollout_input *in, const char *plan_hash, struct gates *ret);
/* Whether jobs keep the node from beginning. */
bool gate_has_jobs(const struct work *w, const struct rollout_input *in);
/* When the time for its jobs is over, on a node that is claimed; INT64_MAX: never. */
int64_t gate_jobs_until_s(const struct work *w, const struct rollout_input *in);
/* Whether a person asked for another try since it failed. */
bool gate_is_forgiven(const struct work *w);
/* Why no node of this revision may begin now, or be closed for its jobs where it is not `ready`, because of its canary.
 * `ret_until_s` is set where that ends by itself. */
enum rollout_hold gate_canary(const struct rollout_input *in, const struct work *w, bool ready, int64_t *ret_until_s);
/* The first gate that is closed; `ready`: the node is up, and no job is in its way. `ret_until_s`: when it opens by itself;
 * INT64_MAX: not that we know. */
enum rollout_hold gate_of(const struct gates *g, const struct work *w, bool ready, int64_t *ret_until_s);
/* What keeps the node back for longer than GATE_MINUTES_S though its jobs were over; NONE: nothing that is known. `ret_from_s`:
 * when its turn comes at the soonest; INT64_MAX: not by itself. */
enum rollout_hold gate_far(const struct gates *g, const struct work *w, int64_t *ret_from_s);

#endif
