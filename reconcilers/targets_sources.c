#include "reconcilers/targets_sources.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/records.h"

/* The next record after `last` (NULL: the first) among those of the tier that ran in the pool. */
static const struct child *next_held(const struct cluster *c, const char *pool, const char *tier,
                                     const struct child *last)
{
    const struct child *next = NULL;
    MAP_EACH (e, &c->tables[RESOURCE_REVISION].records) {
        const struct child *record = e->value;
        if (!child_is_ours(record) || !str_eq(json_str(record->inputs, "tier"), tier) ||
            !record_has_run(record, pool))
            continue;
        if ((!last || record_order(last, record, pool) < 0) &&
            (!next || record_order(record, next, pool) < 0))
            next = record;
    }
    return next;
}

static json_t *held(void *arg, const char *pool, const char *tier)
{
    json_t *list = json_array();
    for (const struct child *record = NULL; (record = next_held(arg, pool, tier, record));)
        json_array_append(list, record->inputs);
    return list;
}

/* The revision for the same kind of host that completed last in the pool and did not fail there. */
static const struct child *known_good(const struct cluster *c, const char *pool,
                                      const json_t *inputs)
{
    const struct child *best = NULL;
    MAP_EACH (e, &c->tables[RESOURCE_REVISION].records) {
        const struct child *record = e->value;
        bool fits = child_is_ours(record) && !record->deleting &&
                    str_eq(json_str(record->inputs, "tier"), json_str(inputs, "tier")) &&
                    revision_same_host(record->inputs, inputs);
        if (fits && record_time_s(record, ANNOTATION_COMPLETED, pool) &&
            !record_has_failed(record, pool) && (!best || record_order(record, best, pool) < 0))
            best = record;
    }
    return best;
}

static void standing(void *arg, const char *pool, const char *hash, const json_t *inputs,
                     struct revision_standing *ret)
{
    const struct cluster *c = arg;
    const struct child *record = cluster_record_of(c, json_str_or_empty(inputs, "tier"), hash),
                       *good = known_good(c, pool, inputs);
    *ret = (struct revision_standing){ 0 };
    if (record) {
        ret->failed = record_has_failed(record, pool);
        ret->completed = record_time_s(record, ANNOTATION_COMPLETED, pool) > 0;
        ret->canary_s = record_time_s(record, ANNOTATION_CANARY, pool); /* 0 while it is not well */
    }
    if (good) {
        ret->good = good->revision;
        ret->good_inputs = good->inputs;
    }
}

static const char *config_text(void *arg, const char *name, const char *key)
{
    const struct cluster *c = arg;
    CLEANUP_FREE char *full = xasprintf("%s/%s", c->o.operand_namespace, name);
    const struct child *map = (const struct child *) table_get(&c->tables[RESOURCE_CONFIGMAP],
                                                               full);
    return map ? json_key(map->inputs, key) : NULL;
}

struct targets *cluster_targets(struct cluster *c)
{
    const struct target_sources sources = { .held = held,
                                            .standing = standing,
                                            .config_text = config_text,
                                            .arg = c,
                                            .control_plane = c->o.limits.control_plane };
    if (!c->targets && c->policy_valid)
        c->targets = targets_new(&c->policy, &sources);
    return c->targets;
}

void cluster_look_at_control_plane(const struct cluster *c, struct cluster_view *v)
{
    v->keep_off_control_plane = !c->o.limits.control_plane;
    for (size_t i = 0; i < c->slots.len && !c->o.limits.control_plane; i++) {
        const struct node_view view = cluster_view(c, c->by_name[i]->node);
        if (!view.node || !node_label(&view, KUBERNETES_CONTROL_PLANE))
            continue;
        v->control_plane++;
        if (node_is_assigned(&view) || node_label(&view, LABEL_REMOVAL))
            v->keep_off_control_plane = false;
    }
}
