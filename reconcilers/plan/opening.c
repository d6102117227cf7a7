#include "reconcilers/plan/opening.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/plan/deadline.h"

/* What the annotation is to say, NULL: nothing. */
static const char *wanted_text(const struct node_input *in, struct arena *a, const struct opening *o)
{
    struct proof p;
    bool proven = o->look && (o->look->result == PROOF_HOLDS || o->look->result == PROOF_PASSES);
    if (proven) {
        CLEANUP_FREE char *text = proof_text(&o->look->proof);
        return arena_strdup(a, text);
    }
    if (o->changing)
        return proof_outdated(&in->view, a);
    return proof_of_node(&in->view, &p) ? intern_text(in->view.strings, in->view.node->proof) : NULL;
}

/* What GPU feature discovery, or somebody else, made of a label that we had set is theirs from then on: two writers of one label
 * would never rest. */
static void yield_labels(const struct node_view *view, const struct proof *was, json_t *labels, json_t *left)
{
    CLEANUP_JSON json_t *before = json_object();
    const char *key;
    json_t *value;
    proof_labels(was, before);
    json_object_foreach (before, key, value) {
        const char *now = node_label(view, key);
        if (!now || str_eq(now, json_string_value(value)))
            continue;
        json_object_del(labels, key);
        json_object_set_new(left, key, json_true());
    }
}

/* A node is new until it is proven for the first time. One that serves already is adopted as it is: it would be closed under
 * running jobs. */
static bool keeps_closed(const struct node_input *in)
{
    struct proof p;
    const struct policy_taint *taint = &in->policy->validation.taint;
    if (!taint->enabled || proof_of_node(&in->view, &p))
        return false;
    return !in->view.node->has_served || marks_have_taint(&in->view, taint->key);
}

void opening_marks(const struct node_input *in, struct arena *a, struct opening *o, json_t *labels, struct marks *wanted)
{
    struct proof now, was;
    CLEANUP_JSON json_t *shown = json_object();
    const struct policy_taint *taint = &in->policy->validation.taint;
    o->left = json_object();
    wanted->proof = wanted_text(in, a, o);
    if (wanted->proof && proof_parse(wanted->proof, &now))
        proof_labels(&now, shown);
    if (proof_of_node(&in->view, &was))
        yield_labels(&in->view, &was, shown, o->left);
    json_object_update_missing(labels, shown);
    wanted->left = o->left;
    if (o->look && proof_is_done(o->look))
        wanted->opens = taint->enabled ? taint->key : NULL;
    else if (keeps_closed(in))
        wanted->startup = taint;
}

void opening_clear(struct opening *o)
{
    json_decref(o->left);
}

bool opening_is_overdue(const struct node_input *in, struct plan *plan)
{
    const struct node *n = in->view.node;
    return keeps_closed(in) && n->up_since_s &&
           deadline_is_over(in, &(struct deadline){ n->up_since_s, in->policy->validation.taint_timeout_s, true }, plan);
}
