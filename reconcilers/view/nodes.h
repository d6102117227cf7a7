/* `kubectl gpu nodes`: GPU nodes, one line each. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_NODES_H
#define OSTLER_RECONCILERS_VIEW_NODES_H

#include "reconcilers/view/snapshot.h"

/* The selection of nodes. */
struct nodes_wanted {
    const char *state; /* NULL: any */
    char *const *names;
    size_t name_count; /* 0: all */
};

/* A list sorted by name, gpu-2 before gpu-10. `snapshot` has reports, and nodes if they were
 * readable. New reference. */
json_t *nodes_view(const json_t *snapshot, const struct nodes_wanted *wanted, int64_t now_us);
/* The same as text. */
void nodes_print(const json_t *list, const struct paint *p, struct buf *out);

#endif
