#include "tests/sweep/sweep_acto_held.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "tests/sweep/sweep.h"

static json_t *without_stack(const struct api *api)
{
    const struct kind *k = kind_named("nodes");
    json_t *names = json_array();
    for (size_t i = 0; i < api_count(api, k); i++)
        if (!object_label(api_at(api, k, i), LABEL_STACK))
            json_array_append_new(names, json_string(object_name(api_at(api, k, i))));
    return names;
}

static const struct {
    const char *daemonset, *enabled;
} followers[] = { { "exporter", "exporter.enabled" }, { "node-cards", "nodeCards.enabled" } };

/* How many of the followers have objects. */
static size_t count_followers(const struct api *api)
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(followers); i++)
        count += api_get(api, kind_named("daemonsets"), OPERAND_NAMESPACE,
                         followers[i].daemonset) != NULL;
    return count;
}

void acto_before_read(const struct api *api, struct acto_before *ret)
{
    *ret = (struct acto_before){ without_stack(api), count_followers(api) };
}

void acto_before_clear(struct acto_before *b)
{
    json_decref(TAKE(b->without_stack));
}

static bool rollout_is_paused(const struct api *api)
{
    const json_t *policy = api_get(api, kind_named("gpuclusterpolicies"), NULL, POLICY_NAME);
    return json_bool(policy, "spec.rollout.paused", false) &&
           str_eq(json_str(policy, "status.rollout.reason"), "Paused");
}

/* Whether the record of this stack says that its toolkit is not Ostler's. */
static bool has_no_toolkit(const struct api *api, const char *stack)
{
    CLEANUP_FREE char *name = xasprintf("stack-%s", stack);
    const json_t *record = api_get(api, kind_named("controllerrevisions"), OPERAND_NAMESPACE, name);
    return record && !json_bool(record, "data.toolkit.enabled", true);
}

/* How many of these nodes got a stack without Ostler's toolkit and are held with it. */
static size_t count_held(const struct api *api, const json_t *names)
{
    size_t held = 0;
    JSON_EACH (name, names) {
        const json_t *node = api_get(api, kind_named("nodes"), NULL, json_string_value(name));
        const char *stack = node ? object_label(node, LABEL_STACK) : NULL;
        held += stack && has_no_toolkit(api, stack);
    }
    return rollout_is_paused(api) ? held : 0;
}

/* Whether objects of followers came, and no node has a stack. */
static bool followers_remain(const struct api *api, const struct acto_before *before)
{
    CLEANUP_JSON json_t *without = without_stack(api);
    return count_followers(api) > before->followers &&
           json_array_size(without) == api_count(api, kind_named("nodes"));
}

json_t *acto_spec_between(const struct api *api, const struct acto_before *before,
                          const json_t *base)
{
    bool held = count_held(api, before->without_stack) > 0;
    if (!held && !followers_remain(api, before))
        return NULL;
    json_t *spec = json_deep_copy(base);
    for (size_t i = 0; i < ARRAY_LEN(followers); i++)
        json_set_at(spec, followers[i].enabled, json_false());
    if (held)
        json_set_at(spec, "nodes.selector",
                    json_pack("{s:{s:s}}", "matchLabels", "example.com/nowhere", "yes"));
    return spec;
}
