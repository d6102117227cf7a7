#include "reconcilers/decide/cluster_view.h"

#include "base/json.h"
#include "base/str.h"

const struct child *cluster_child(const struct cluster_view *v, enum resource_id resource,
                                  const char *name)
{
    for (size_t i = 0; i < v->child_count; i++)
        if (v->children[i]->resource == resource && str_eq(child_name(v->children[i]), name))
            return v->children[i];
    return NULL;
}

bool cluster_has_daemonset(const struct cluster_view *v, const struct child *record)
{
    for (size_t i = 0; i < v->child_count; i++)
        if (v->children[i]->resource == RESOURCE_DAEMONSET &&
            str_eq(v->children[i]->revision, record->revision))
            return true;
    return false;
}

bool cluster_is_daemonset_of(const struct child *c, enum operand operand)
{
    char name[RENDER_NAME_MAX];
    render_name(render_daemonset(operand), str_or_empty(c->revision), name);
    return c->resource == RESOURCE_DAEMONSET && str_eq(child_name(c), name);
}

bool cluster_is_record(const struct child *c, const char *tier)
{
    return c->resource == RESOURCE_REVISION && child_is_ours(c) &&
           (!tier || str_eq(json_str(c->inputs, "tier"), tier));
}

const struct child *cluster_find_record(const struct cluster_view *v, const char *tier,
                                        const char *hash)
{
    char name[RENDER_NAME_MAX];
    render_revision_name(tier, hash, name);
    return cluster_child(v, RESOURCE_REVISION, name);
}

const json_t *cluster_inputs(const struct cluster_view *v, const char *tier, const char *hash)
{
    const struct child *record = cluster_find_record(v, tier, hash);
    size_t pool;
    if (record && json_is_object(record->inputs))
        return record->inputs;
    return v->targets ? targets_inputs(v->targets, tier, hash, &pool) : NULL;
}
