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

const json_t *cluster_inputs(const struct cluster_view *v, const char *tier, const char *hash)
{
    char name[RENDER_NAME_MAX];
    render_revision_name(tier, hash, name);
    const struct child *record = cluster_child(v, RESOURCE_REVISION, name);
    size_t pool;
    if (record && json_is_object(record->inputs))
        return record->inputs;
    return v->targets ? targets_inputs(v->targets, tier, hash, &pool) : NULL;
}
