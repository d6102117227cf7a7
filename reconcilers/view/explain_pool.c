#include "reconcilers/view/explain_pool.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/selector.h"
#include "reconcilers/model/policy.h"

static size_t index_of(const struct policy *policy, const json_t *node)
{
    return policy_pool_of(policy, selector_lookup_json, json_at(node, "metadata.labels"));
}

char *explain_pool(const json_t *snapshot)
{
    const json_t *policy = json_object_get(snapshot, "policy"),
                 *node = json_object_get(snapshot, "nodes");
    const char *known = json_str(snapshot, "pool");
    struct policy decoded;
    struct policy_problems problems = { 0 };
    if (known || !policy || !node)
        return known ? xstrdup(known) : NULL;
    int rc = policy_decode(policy, &POLICY_LIMITS_NONE, &decoded, &problems);
    char *pool = NULL;
    if (rc == 0)
        pool = xstrdup(decoded.pools[index_of(&decoded, node)].name);
    policy_clear(&decoded);
    policy_problems_clear(&problems);
    return pool;
}

bool explain_pool_concerns(const char *pool, const char *note)
{
    static const char before[] = ", pool ";
    const char *named = strstr(note, before);
    if (!pool || !named)
        return true;
    named += strlen(before);
    return strcspn(named, ":") == strlen(pool) && str_has_prefix(named, pool);
}
