#include "reconcilers/decide/proof_marks.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/features.h"

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
    if (o->changing)
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

void proof_marks_add(const struct node_input *in, struct arena *a, struct proof_marks *o,
                     struct marks *wanted)
{
    const struct policy_taint *taint = &in->policy->validation.taint;
    wanted->proof = wanted_text(in, a, o);
    want_features(in, o, wanted);
    bool proven = o->look && proof_is_done(o->look),
         closed = marks_have_taint(&in->view, taint->key);
    if (proven && !(closed && is_registering(in)))
        wanted->opens = taint->enabled ? taint->key : NULL;
    else if (proven ? taint->enabled : keeps_closed(in))
        wanted->startup = taint;
}

void proof_marks_clear(struct proof_marks *o)
{
    json_decref(o->features);
}

bool startup_taint_is_overdue(const struct node_input *in, struct actions *actions)
{
    const struct node *n = in->view.node;
    return keeps_closed(in) && n->up_since_s &&
           deadline_is_over(
               in,
               &(struct deadline){ n->up_since_s, in->policy->validation.taint_timeout_s, true },
               actions);
}

const char *startup_taint_missing_why(const struct node_input *in, struct arena *a)
{
    struct proof p;
    const struct policy_taint *taint = &in->policy->validation.taint;
    const struct autoscaler *who = does_not_know(in);
    if (!who || !taint->enabled || in->view.node->has_served ||
        marks_have_taint(&in->view, taint->key) || proof_of_node(&in->view, &p))
        return NULL;
    return arena_printf(
        a, "Ostler sets no startup taint, since %s does not know %s and would make more nodes: %s",
        who->name, taint->key, who->advice);
}
