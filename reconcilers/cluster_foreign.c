#include "reconcilers/cluster_foreign.h"

#include <string.h>

#include "base/str.h"
#include "kube/object.h"

/* ---- DaemonSets */

static struct foreign *foreign_of(const struct cluster *c, const json_t *object)
{
    bool ours = str_eq(object_namespace(object), c->o.operand_namespace);
    return ours ? NULL : foreign_project(object);
}

CLUSTER_PROJECTION(foreign_from, foreign_of(c, object))
CLUSTER_RECORD(foreign, foreign_same, foreign_free(r))

/* Rare: such a DaemonSet is created, changed or deleted. */
static void foreign_changed(void *arg, struct record *before, struct record *after)
{
    (void) before, (void) after;
    cluster_enqueue_nodes(arg);
}

struct table_ops cluster_foreign_ops(struct cluster *c)
{
    return (struct table_ops){ foreign_from, foreign_record_same, foreign_changed,
                               foreign_record_free, c };
}

static bool comes_before(const struct foreign *a, const struct foreign *b)
{
    return a->of_cluster != b->of_cluster ? a->of_cluster : strcmp(a->head.key, b->head.key) < 0;
}

const struct foreign *cluster_foreign(const struct cluster *c, const struct node_view *view)
{
    const struct foreign *first = NULL;
    MAP_EACH (e, &c->tables[RESOURCE_FOREIGN].records) {
        const struct foreign *f = e->value;
        if ((!first || comes_before(f, first)) && foreign_selects(f, node_label, view))
            first = f;
    }
    return first;
}

/* ---- ResourceSlices */

CLUSTER_PROJECTION(slice_from, slice_project(object))
CLUSTER_RECORD(slice, slice_same, slice_free(r))

/* The list of a node is stored under the name that its first slice owns. */
static void put_list(struct cluster *c, struct slice *first)
{
    if (first)
        map_put(&c->slices, first->node, first);
}

static void unlink_slice(struct cluster *c, struct slice *s)
{
    struct slice *first = map_remove(&c->slices, s->node), **at = &first;
    while (*at && *at != s)
        at = &(*at)->next_on_node;
    if (*at)
        *at = s->next_on_node;
    put_list(c, first);
    c->o.listener.node(c->o.listener.arg, s->node);
}

static void link_slice(struct cluster *c, struct slice *s)
{
    s->next_on_node = map_remove(&c->slices, s->node);
    put_list(c, s);
    c->o.listener.node(c->o.listener.arg, s->node);
}

static void slice_changed(void *arg, struct record *before, struct record *after)
{
    if (before)
        unlink_slice(arg, (struct slice *) before);
    if (after)
        link_slice(arg, (struct slice *) after);
}

struct table_ops cluster_slice_ops(struct cluster *c)
{
    return (struct table_ops){ slice_from, slice_record_same, slice_changed, slice_record_free, c };
}
