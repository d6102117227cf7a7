#include "reconcilers/cluster_failures.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/pod.h"

/* What failed before Ostler watched says nothing: which pods worked then is not known. */
static bool is_news(const struct cluster *c, const struct pod_failure *f)
{
    int64_t since_s = (c->began_us + c->watched_since_ms * 1000) / 1000000;
    return c->watched_since_ms && (!f->at_s || f->at_s >= since_s);
}

void cluster_failures_look(struct cluster *c, const json_t *object)
{
    struct pod_failure f;
    const char *node = json_str_or_empty(object, "spec.nodeName");
    bool ours = str_eq(object_namespace(object), c->o.operand_namespace);
    struct node_slot *slot = ours || !*node ? NULL : map_get(&c->slots, node);
    if (!slot || !slot->node || !pod_failure_read(object, &f) || !is_news(c, &f))
        return;
    if (!slot->hole)
        slot->hole = xcalloc(1, sizeof *slot->hole);
    black_hole_failed(slot->hole, &f, cluster_now_s(c));
    if (black_hole_is_suspected(slot->hole, cluster_now_s(c)))
        c->o.listener.node(c->o.listener.arg, slot->name);
}

/* What is remembered of the node of a user's pod that uses a GPU; NULL: nothing, or it is another
 * pod. */
static struct black_hole *hole_of(const struct cluster *c, const struct pod *p)
{
    bool users = p && p->component == OPERAND_NONE && !p->is_task && p->gpus;
    const char *name = users ? intern_text(c->strings, p->node) : NULL;
    const struct node_slot *slot = name ? map_get(&c->slots, name) : NULL;
    return slot ? slot->hole : NULL;
}

void cluster_failures_moved(struct cluster *c, const struct pod *before, const struct pod *after)
{
    bool another = !before || !after || !record_same_uid(&before->head, &after->head);
    struct black_hole *was = hole_of(c, before), *is = hole_of(c, after);
    if (was && another)
        black_hole_ended(was, str_hash_id(RECORD_UID(&before->head)), before->deleting,
                         cluster_now_s(c));
    if (is && after->running && (another || !before->running))
        black_hole_began(is, str_hash_id(RECORD_UID(&after->head)), cluster_now_s(c));
}

void cluster_failures_take(struct cluster *c, struct node_slot *slot, enum black_hole_step step)
{
    if (!slot->hole)
        return;
    black_hole_take(slot->hole, step, cluster_now_s(c));
    if (black_hole_is_over(slot->hole, cluster_now_s(c)))
        free(TAKE(slot->hole));
}
