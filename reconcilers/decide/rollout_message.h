/* The sentences of a rollout: what each grant is for, and why there are no more. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_MESSAGE_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_MESSAGE_H

#include "reconcilers/decide/rollout_budget.h"

/* The nodes that one reason keeps back. */
struct refusal {
    size_t nodes;
    const struct work *first; /* in the order in which nodes go */
    int64_t until_s;          /* when that changes by itself; INT64_MAX: not that we know */
};

struct rollout_story {
    const struct rollout_view *view;
    const struct budget *budget;
    const struct refusal *refusals; /* by enum rollout_hold */
    const char *domain;             /* that is being changed; NULL: none */
    const char *plan_hash;
};

/* A time as people read it, RFC 3339; the last second that has a text for all after it. From the arena. */
const char *rollout_time_text(struct arena *a, int64_t at_s);
/* How long something takes: "15m", "2h 5m". */
enum { ROLLOUT_SPAN_MAX = 48 };
void rollout_span_text(int64_t s, char out[static ROLLOUT_SPAN_MAX]);
/* What a person has done for which a node is skipped. Static text. */
const char *rollout_skip_text(const struct rollout_node *n);
/* Why no other node begins, as a sentence that names what to wait for or to change. From the arena, or static. */
const char *rollout_hold_message(const struct rollout_story *s, enum rollout_hold hold, struct arena *a);
/* The first revision that failed and that the policy still asks for, also where every node went back from it. */
void rollout_failure_of(const struct rollout_story *s, struct arena *a, struct rollout_failure *ret);
/* Why a node that waits returns to service, as a sentence for the log and for Events: what keeps it back, or another reason, a
 * part of a sentence. From the arena. */
const char *rollout_return_message(enum rollout_hold hold, const char *other, struct arena *a);
/* What a grant is for, as a sentence for the log and for Events. From the arena, or static. */
const char *rollout_grant_message(const struct work *w, enum rollout_grant_kind kind, const struct rollout_input *in,
                                  struct arena *a);

#endif
