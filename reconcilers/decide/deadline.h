/* Whether a node has had its time for something. */
#ifndef OSTLER_RECONCILERS_DECIDE_DEADLINE_H
#define OSTLER_RECONCILERS_DECIDE_DEADLINE_H

#include "kube/actions.h"
#include "reconcilers/decide/node_plan.h"

/* Something that may last so long. */
struct deadline {
    int64_t since_s, timeout_s;
    bool of_proof; /* it is over when a proof is */
};

/* From when on it counts, seconds of the epoch: the time before the node was last up does not, nor does that in which somebody
 * was about to remove it, nor that in which nobody watched, since what became of the node then is not known. So a clock that
 * jumps ahead makes no node fail either. */
int64_t deadline_from_s(const struct node_input *in, int64_t since_s);
/* Whether its time is over. On a node that is down it never is: it has none. Nor is it while nothing was heard since then, which
 * takes a minute in a quiet cluster. While it is not over, asks to be called again when it may be. */
bool deadline_is_over(const struct node_input *in, const struct deadline *d, struct actions *actions);

#endif
