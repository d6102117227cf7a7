#include "reconcilers/cluster_foreign.h"

#include <string.h>

#include "base/str.h"
#include "kube/object.h"

static struct record *foreign_from(void *arg, const json_t *object)
{
    const struct cluster *c = arg;
    if (str_eq(object_namespace(object), c->o.operand_namespace))
        return NULL;
    struct foreign *f = foreign_project(object);
    return f ? &f->head : NULL;
}

static bool foreigns_same(void *arg, const struct record *a, const struct record *b)
{
    (void) arg;
    return foreign_same((const struct foreign *) a, (const struct foreign *) b);
}

/* Rare: such a DaemonSet is created, changed or deleted. */
static void foreign_changed(void *arg, struct record *before, struct record *after)
{
    (void) before, (void) after;
    cluster_enqueue_nodes(arg);
}

static void free_foreign(void *arg, struct record *r)
{
    (void) arg;
    foreign_free((struct foreign *) r);
}

struct table_ops cluster_foreign_ops(struct cluster *c)
{
    return (struct table_ops){ foreign_from, foreigns_same, foreign_changed, free_foreign, c };
}

static bool comes_before(const struct foreign *a, const struct foreign *b)
{
    return a->of_cluster != b->of_cluster ? a->of_cluster : strcmp(a->head.key, b->head.key) < 0;
}

const struct foreign *cluster_foreign(const struct cluster *c, const struct node_view *view)
{
    const struct foreign *first = NULL;
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&c->tables[RESOURCE_FOREIGN].records, &cursor))) {
        const struct foreign *f = e->value;
        if ((!first || comes_before(f, first)) && foreign_selects(f, node_label, view))
            first = f;
    }
    return first;
}
