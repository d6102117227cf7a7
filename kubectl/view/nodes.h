/* `kubectl gpu nodes`: GPU nodes, one line each. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_NODES_H
#define OSTLER_KUBECTL_VIEW_NODES_H

#include "kubectl/view/snapshot.h"

/* Which nodes. */
struct nodes_wanted {
    const char *state;         /* NULL: any */
    char *const *names;
    size_t name_count;         /* 0: all */
};

/* A list, in the order of names, gpu-2 before gpu-10. `seen` has reports, and nodes where they could be read. New reference. */
json_t *nodes_view(const json_t *snapshot, const struct nodes_wanted *wanted, int64_t now_us);
/* The same for people. */
void nodes_print(const json_t *list, const struct paint *p, struct buf *out);

#endif
