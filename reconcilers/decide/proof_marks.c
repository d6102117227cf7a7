#include "reconcilers/decide/proof_marks.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/gpu_features.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/plugin_settings.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/decide/node_operands.h"

/* ---- the GPU feature labels (model/gpu_features.h), from the agent's report and the validation */

/* What happens to the labels. `looked`: the node is up, so its kubelet's GPU count is valid. */
static enum marks_features features_rule(const struct node_input *in, bool looked)
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

/* The labels of a node that runs this stack, with these facts of its validation. New reference. */
static json_t *features_labels(const struct node_input *in, const char *stack,
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

/* ---- annotation and startup taint */

/* The wanted text of the annotation; NULL: none. */
static const char *wanted_text(const struct node_input *in, struct arena *a,
                               const struct proof_marks *o)
{
    struct proof p;
    bool proven = o->look && (o->look->result == PROOF_HOLDS || o->look->result == PROOF_PASSES);
    if (proven) {
        CLEANUP_FREE char *text = proof_text(&o->look->proof),
                          *now = proof_of_node(&in->view, &p) ? proof_text(&p) : NULL;
        /* The same validation, perhaps with members of a newer Ostler, which stay. */
        return str_eq(text, now) ? intern_text(in->view.strings, in->view.node->proof)
                                 : arena_strdup(a, text);
    }
    if (o->changing || (o->look && o->look->voids))
        return proof_outdated(&in->view, a);
    return proof_of_node(&in->view, &p) ? intern_text(in->view.strings, in->view.node->proof)
                                        : NULL;
}

/* Only the labels of a node that is up are updated; otherwise the kubelet's offer is not known. */
static void want_features(const struct node_input *in, struct proof_marks *o, struct marks *wanted)
{
    struct proof p;
    static const struct proof_facts nothing;
    wanted->features_rule = features_rule(in, o->look && proof_is_done(o->look));
    if (wanted->features_rule != FEATURES_SET)
        return;
    bool known = wanted->proof && proof_parse(wanted->proof, &p);
    o->features = features_labels(in, wanted->assigned.hash[TIER_STACK],
                                  known ? &p.facts : &nothing);
    wanted->features = o->features;
}

/* The node's autoscaler, if it does not know the startup taint and so treats a node that gets the
 * taint late as one that never serves. It then creates more nodes (measured: three nodes for one
 * pod). NULL: no autoscaler is detected, or it knows the taint. */
static const struct autoscaler *does_not_know(const struct node_input *in)
{
    const struct autoscaler *who = autoscaler_of(node_label, &in->view);
    return who && !autoscaler_knows(who, in->policy->validation.taint.key) ? who : NULL;
}

/* A node is new until its first validation. A node in service is adopted unchanged, because the
 * taint would close it under running jobs. */
static bool keeps_closed(const struct node_input *in)
{
    struct proof p;
    const struct policy_taint *taint = &in->policy->validation.taint;
    if (!taint->enabled || proof_of_node(&in->view, &p))
        return false;
    return marks_have_taint(&in->view, taint->key) ||
           (!in->view.node->has_served && !does_not_know(in));
}

/* While a node registers, the program that registers it restores a removed startup taint, and
 * nothing would remove the taint again. */
static bool is_registering(const struct node_input *in)
{
    return marks_have_taint(&in->view, "karpenter.sh/unregistered") ||
           marks_have_taint(&in->view, "node.cloudprovider.kubernetes.io/uninitialized");
}

void proof_marks_add(const struct node_pass *p, struct proof_marks *o, struct marks *wanted)
{
    const struct policy_taint *taint = &p->in->policy->validation.taint;
    wanted->proof = wanted_text(p->in, p->a, o);
    want_features(p->in, o, wanted);
    bool proven = o->look && proof_is_done(o->look),
         closed = marks_have_taint(&p->in->view, taint->key);
    if (proven && !(closed && is_registering(p->in)))
        wanted->opens = taint->enabled ? taint->key : NULL;
    else if (proven ? taint->enabled : keeps_closed(p->in))
        wanted->startup = taint;
}

void proof_marks_clear(struct proof_marks *o)
{
    json_decref(o->features);
}

bool startup_taint_is_overdue(const struct node_pass *p)
{
    int64_t up_since_s = p->in->view.node->up_since_s;
    return keeps_closed(p->in) && up_since_s &&
           deadline_is_over(p, up_since_s, p->in->policy->validation.taint_timeout_s, true);
}

const char *startup_taint_missing_why(const struct node_pass *p)
{
    struct proof proof;
    const struct node_view *view = &p->in->view;
    const struct policy_taint *taint = &p->in->policy->validation.taint;
    const struct autoscaler *who = does_not_know(p->in);
    if (!who || !taint->enabled || view->node->has_served || marks_have_taint(view, taint->key) ||
        proof_of_node(view, &proof))
        return NULL;
    return arena_printf(
        p->a,
        "Ostler sets no startup taint, since %s does not know %s and would make more nodes: %s",
        who->name, taint->key, who->advice);
}
