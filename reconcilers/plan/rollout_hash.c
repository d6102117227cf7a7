#include "reconcilers/plan/rollout_hash.h"

#include "base/json.h"
#include "base/str.h"

static const char *driver_of(const struct rollout_node *n)
{
    return n->wish_driver ? n->wish_driver : n->target_driver;
}

static const char *stack_of(const struct rollout_node *n)
{
    return n->wish_stack ? n->wish_stack : n->target_stack;
}

static bool wants_the_same(const struct rollout_node *a, const struct rollout_node *b)
{
    return a->pool == b->pool && str_eq(driver_of(a), driver_of(b)) && str_eq(stack_of(a), stack_of(b));
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
        if (n->let_go || (i > 0 && wants_the_same(n, n - 1)))
            continue;
        add(wanted, in->pool_names[n->pool], "driver", driver_of(n));
        add(wanted, in->pool_names[n->pool], "stack", stack_of(n));
    }
    revision_hash(wanted, ret);
}
