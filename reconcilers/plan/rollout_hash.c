#include "reconcilers/plan/rollout_hash.h"

#include "base/json.h"
#include "base/str.h"

static bool wants_the_same(const struct rollout_node *a, const struct rollout_node *b)
{
    return a->pool == b->pool && str_eq(a->target_driver, b->target_driver) && str_eq(a->target_stack, b->target_stack);
}

static void add(json_t *wanted, const char *pool, const char *tier, const char *hash)
{
    CLEANUP_FREE char *key = xasprintf("%s/%s/%s", pool, tier, hash);
    if (*hash)
        json_object_set_new(wanted, key, json_true());
}

void rollout_plan_hash(const struct rollout_input *in, char ret[static REVISION_HASH_MAX])
{
    CLEANUP_JSON json_t *wanted = json_object();
    for (size_t i = 0; i < in->node_count; i++) {
        const struct rollout_node *n = &in->nodes[i];
        if (i > 0 && wants_the_same(n, n - 1))
            continue;
        add(wanted, in->pool_names[n->pool], "driver", n->target_driver);
        add(wanted, in->pool_names[n->pool], "stack", n->target_stack);
    }
    revision_hash(wanted, ret);
}
