#include "reconcilers/model/gpu_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

static const char *owner_of(const json_t *object)
{
    size_t i;
    json_t *owner;
    json_array_foreach (json_at(object, "metadata.ownerReferences"), i, owner)
        if (str_eq(json_str(owner, "kind"), "Node"))
            return json_str_or_empty(owner, "uid");
    return "";
}

static void take_text(const json_t *object, const char *path, char *to, size_t max)
{
    const char *text = json_str_or_empty(object, path);
    if (strlen(text) < max)
        snprintf(to, max, "%s", text);
}

struct gpu_node *gpu_node_project(const json_t *object)
{
    struct gpu_node *g = xcalloc(1, sizeof *g);
    g->head.key = xstrdup(object_name(object));
    snprintf(g->head.uid, sizeof g->head.uid, "%s", object_uid(object));
    snprintf(g->owner, sizeof g->owner, "%s", owner_of(object));
    take_text(object, "status.state", g->state, sizeof g->state);
    take_text(object, "status.since", g->since, sizeof g->since);
    if (clock_parse_rfc3339(g->since) < 0)
        *g->since = '\0';
    g->said = gpu_node_said(json_object_get(object, "status"));
    g->deleting = object_is_deleting(object);
    return g;
}

bool gpu_node_same(const struct gpu_node *a, const struct gpu_node *b)
{
    return a->said == b->said && a->deleting == b->deleting && str_eq(a->owner, b->owner);
}

void gpu_node_free(struct gpu_node *g)
{
    free(g->head.key);
    free(g);
}

uint64_t gpu_node_said(const json_t *status)
{
    if (!status)
        return 0;
    CLEANUP_JSON json_t *said = json_copy((json_t *) status);
    json_object_del(said, GPU_NODE_GENERATION);
    CLEANUP_FREE char *text = json_canonical(said);
    return str_hash(text, strlen(text));
}
