/* `kubectl gpu events`: what happened to policy, nodes and operands, in order of time. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_EVENTS_H
#define OSTLER_KUBECTL_VIEW_EVENTS_H

#include "kubectl/view/snapshot.h"

/* Which events. */
struct events_wanted {
    int64_t since_us;   /* none before; 0: all */
    char *const *nodes; /* only those of these nodes and of pods on them */
    size_t node_count;  /* 0: all */
};

/* A list, the newest last: time, type, object, reason, note, count, by. `seen` has policyEvents, events, operandEvents,
 * ownEvents; reports say
 * which nodes have GPUs, pods which are on a node. New reference. */
json_t *events_view(const json_t *snapshot, const struct events_wanted *wanted);
/* What the second list has that the first has not. New reference. */
json_t *events_news(const json_t *before, const json_t *list);
/* The same for people, a line each. */
void events_print(const json_t *list, const struct paint *p, struct buf *out);

#endif
