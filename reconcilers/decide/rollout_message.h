/* The messages of a rollout: what each grant is for, and why there are no more. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_MESSAGE_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_MESSAGE_H

#include "reconcilers/decide/rollout_budget.h"

/* The nodes that one reason delays. */
struct refusal {
    size_t nodes;
    const struct work *first; /* in rollout order */
    int64_t until_s;          /* when that changes by itself; INT64_MAX: not known */
};

struct rollout_story {
    const struct rollout_view *view;
    const struct budget *budget;
    const struct refusal *refusals; /* by enum rollout_hold */
    const char *domain;             /* being changed; NULL: none */
    bool domains_mixed;             /* nodes of several domains are being changed */
    const char *plan_hash;
    struct arena *a; /* for the texts */
};

/* A time for users, RFC 3339; later times use the last second that can be written. From the
 * arena. */
const char *rollout_time_text(struct arena *a, int64_t at_s);
/* A duration: "15m", "2h 5m". */
enum { ROLLOUT_SPAN_MAX = 48 };
void rollout_span_text(int64_t s, char out[static ROLLOUT_SPAN_MAX]);
/* The user's action that makes the rollout skip a node. Static text. */
const char *rollout_skip_text(const struct rollout_node *n);
/* Why no other node starts, as a sentence that names what to wait for or change. From the arena, or
 * static. */
const char *rollout_hold_message(const struct rollout_story *s, enum rollout_hold hold);
/* The first failed revision that the policy still asks for, even if all nodes rolled back from
 * it. */
void rollout_failure_of(const struct rollout_story *s, struct rollout_failure *ret);
/* Why a waiting node returns to service, as a sentence for the log and Events: from `hold`, or from
 * the clause `other`. From the arena. */
const char *rollout_return_message(enum rollout_hold hold, const char *other, struct arena *a);
/* What a grant is for, as a sentence for the log and Events. `target`: the node gets its target; a
 * repair alone brings back what it ran. From the arena, or static. */
const char *rollout_grant_message(const struct work *w, enum rollout_grant_kind kind, bool target,
                                  const struct rollout_input *in, struct arena *a);

#endif
