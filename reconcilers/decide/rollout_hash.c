#include "reconcilers/decide/rollout_hash.h"

#include "base/json.h"
#include "base/str.h"

static bool wants_the_same(const struct rollout_node *a, const struct rollout_node *b)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (!str_eq(rollout_wish(a, t), rollout_wish(b, t)))
            return false;
    return a->pool == b->pool;
}

static void rollout_hash_add(json_t *wanted, const char *pool, const char *tier, const char *hash)
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
        for (enum tier t = 0; t < TIERS; t++)
            rollout_hash_add(wanted, in->pool_names[n->pool], tiers[t].name, rollout_wish(n, t));
    }
    revision_hash(wanted, ret);
}
