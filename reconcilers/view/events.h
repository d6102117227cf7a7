/* `kubectl gpu events`: what happened to the policy, nodes and operands, in order of time. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_EVENTS_H
#define OSTLER_RECONCILERS_VIEW_EVENTS_H

#include "reconcilers/view/snapshot.h"

/* The selection of Events. */
struct events_wanted {
    int64_t since_us;   /* only later ones; 0: all */
    char *const *nodes; /* only for these nodes and pods on them */
    size_t node_count;  /* 0: all */
};

/* A list, the newest last: time, type, object, reason, note, count, by. `snapshot` has
 * policyEvents, events, operandEvents, ownEvents; its reports say which nodes have GPUs, its
 * pods which node they are on. New reference. */
json_t *events_view(const json_t *snapshot, const struct events_wanted *wanted);
/* The items of the second list that the first lacks. New reference. */
json_t *events_news(const json_t *before, const json_t *list);
/* The same as text, one line each. */
void events_print(const json_t *list, const struct paint *p, struct buf *out);

#endif
