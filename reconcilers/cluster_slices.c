#include "reconcilers/cluster_slices.h"

#include <string.h>

static struct record *slice_from(void *arg, const json_t *object)
{
    (void) arg;
    struct slice *s = slice_project(object);
    return s ? &s->head : NULL;
}

static bool slices_same(void *arg, const struct record *a, const struct record *b)
{
    (void) arg;
    return slice_same((const struct slice *) a, (const struct slice *) b);
}

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

static void free_slice(void *arg, struct record *r)
{
    (void) arg;
    slice_free((struct slice *) r);
}

struct table_ops cluster_slice_ops(struct cluster *c)
{
    return (struct table_ops){ slice_from, slices_same, slice_changed, free_slice, c };
}

const struct slice *cluster_slice(const struct cluster *c, const char *node)
{
    const struct slice *first = map_get(&c->slices, node);
    for (const struct slice *s = first; s; s = s->next_on_node)
        if (strcmp(s->head.key, first->head.key) < 0)
            first = s;
    return first;
}
