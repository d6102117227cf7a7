#include "reconcilers/decide/features.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/gpu_features.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/plugin_settings.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/inventory.h"

enum marks_features features_rule(const struct node_input *in, bool looked)
{
    const char *policy_target = json_str_or_empty(in->policy->spec, "nodeAgent.labels");
    if (str_eq(policy_target, "None"))
        return FEATURES_OFF;
    if (str_eq(policy_target, "Auto") && node_label(&in->view, LABEL_GFD_TIMESTAMP))
        return FEATURES_LEFT;
    return looked ? FEATURES_SET : FEATURES_KEPT;
}

/* Whether two names are of the same product; names in labels have dashes for blanks. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == ' ' ? '-' : *a) != (*b == ' ' ? '-' : *b))
            return false;
    return *a == *b;
}

/* Whether the agent and the validation report different GPUs. Then the agent's are the current
 * ones. */
static bool is_of_others(const struct node_inventory *seen, const struct proof_facts *facts)
{
    return *seen->product && *facts->product && !same_name(seen->product, facts->product);
}

/* The agent's report. If it shows other GPUs from before the last boot and the agent is not up, the
 * validation is newer. */
static const struct node_inventory *seen_of(const struct node_input *in,
                                            const struct proof_facts *facts)
{
    static const struct node_inventory silent;
    const struct node_inventory *seen = in->inventory ? in->inventory : &silent;
    bool counts = in->pods->agent || inventory_is_since_boot(in) || !is_of_others(seen, facts);
    return counts ? seen : &silent;
}

/* Number of GPUs. Without an agent's report it is what the kubelet offers, if it offers whole
 * GPUs. */
static unsigned features_gpus_of(const struct node_input *in, const struct node_inventory *seen,
                                 const struct gpu_features *f)
{
    const struct node *n = in->view.node;
    if (seen->driven)
        return seen->alike ? seen->alike : seen->driven;
    struct plugin_share share = plugin_share_of(f->settings, RESOURCE_GPU);
    return *f->kinds || *f->slice ? 0 : (unsigned) n->gpus / share.replicas;
}

json_t *features_labels(const struct node_input *in, const char *stack,
                        const struct proof_facts *facts)
{
    const struct node_inventory *seen = seen_of(in, facts);
    bool others = is_of_others(seen, facts);
    const json_t *inputs = operands_inputs(in, TIER_STACK, str_or_empty(stack));
    const char *loaded = inventory_driver_version(in);
    CLEANUP_JSON json_t *settings = plugin_settings_of(inputs);
    struct gpu_features f = {
        /* The validation reports the driver that it ran on. */
        .driver = *loaded ? loaded : facts->driver,
        .cuda = facts->cuda,
        .product = others || !*facts->product ? seen->product : facts->product,
        .compute = others ? "" : facts->compute,
        .memory_mib = others || !facts->memory_mib ? seen->memory_mib : facts->memory_mib,
        .machine = seen->machine,
        .divided = seen->divided > 0,
        .all_divided = seen->divided > 0 && seen->divided == seen->driven,
        .slice = "",
        .slices = (unsigned) in->view.node->gpus,
        .kinds = str_or_empty(intern_text(in->view.strings, in->view.node->slices)),
        .strategy = plugin_mig_strategy(inputs, settings),
        .settings = settings,
    };
    if (str_eq(f.strategy, "single"))
        f.slice = seen->divided && !seen->many_kinds && *seen->slice ? seen->slice : facts->slice;
    f.gpus = features_gpus_of(in, seen, &f);
    json_t *labels = json_object();
    gpu_feature_labels(&f, labels);
    return labels;
}
