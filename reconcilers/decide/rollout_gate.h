/* What delays a single node regardless of other nodes, and for how long. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_GATE_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_GATE_H

#include "reconcilers/decide/rollout_view.h"

/* A tainted, unchanged node returns to service if its turn cannot come within this time. */
enum { GATE_MINUTES_S = 300 };

/* Gates for all nodes. */
struct gates {
    const struct rollout_input *in;
    /* Paused, not approved, or outside windows: no node starts; NONE: nodes may start. */
    enum rollout_hold closed;
    int64_t changes_s; /* when that changes by itself; INT64_MAX: not known */
};

/* `plan_hash`: of the current plan. Borrows `in`. */
void gates_make(const struct rollout_input *in, const char *plan_hash, struct gates *ret);
/* Whether jobs keep the node from starting. */
bool gate_has_jobs(const struct work *w, const struct rollout_input *in);
/* When the wait for jobs ends on a claimed node; INT64_MAX: never. */
int64_t gate_jobs_until_s(const struct work *w, const struct rollout_input *in);
/* Whether a user asked for a retry since it failed. */
bool gate_is_forgiven(const struct work *w);
/* Whether a node that is repaired now may also get its target. */
bool gate_lets_upgrade(const struct gates *g, const struct work *w);
/* Why the canary lets no node of this revision start now, or be tainted for its jobs if it is not
 * `ready`. Sets `ret_until_s` if that ends by itself. */
enum rollout_hold gate_canary(const struct rollout_input *in, const struct work *w, bool ready,
                              int64_t *ret_until_s);
/* The first closed gate. `ready`: the node is up and no job blocks it. `ret_until_s`: when it opens
 * by itself; INT64_MAX: not known. */
enum rollout_hold gate_of(const struct gates *g, const struct work *w, bool ready,
                          int64_t *ret_until_s);
/* What delays the node for more than GATE_MINUTES_S even without its jobs; NONE: nothing known.
 * `ret_from_s`: the earliest time of its turn; INT64_MAX: not by itself. */
enum rollout_hold gate_far(const struct gates *g, const struct work *w, int64_t *ret_from_s);

#endif
