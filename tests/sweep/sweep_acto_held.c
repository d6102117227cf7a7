#include "tests/sweep/sweep_acto_held.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "tests/sweep/sweep.h"

json_t *acto_without_stack(const struct api *api)
{
    const struct kind *k = kind_named("nodes");
    json_t *names = json_array();
    for (size_t i = 0; i < api_count(api, k); i++)
        if (!object_label(api_at(api, k, i), LABEL_STACK))
            json_array_append_new(names, json_string(object_name(api_at(api, k, i))));
    return names;
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

size_t acto_held(const struct api *api, const json_t *without)
{
    size_t held = 0;
    JSON_EACH (name, without) {
        const json_t *node = api_get(api, kind_named("nodes"), NULL, json_string_value(name));
        const char *stack = node ? object_label(node, LABEL_STACK) : NULL;
        held += stack && has_no_toolkit(api, stack);
    }
    return rollout_is_paused(api) ? held : 0;
}

json_t *acto_spec_without_nodes(const json_t *base)
{
    json_t *spec = json_deep_copy(base);
    json_set_at(spec, "nodes.selector",
                json_pack("{s:{s:s}}", "matchLabels", "example.com/nowhere", "yes"));
    json_set_at(spec, "exporter.enabled", json_false());
    return spec;
}
