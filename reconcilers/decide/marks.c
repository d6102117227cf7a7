#include "reconcilers/decide/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/gpu_features.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy_rules.h"
#include "reconcilers/decide/node_patch.h"

/* The annotation's member with the taint that goes with a claim, if its key is not the default. */
#define MEMBER_UPGRADE "upgrade"
/* The taint of an unhealthy node, as the annotation names it. */
#define UNHEALTHY TAINT_UNHEALTHY ":" CLAIM_TAINT_EFFECT
/* Room for members of newer versions, as JSON. */
enum { MARKS_MORE_MAX = 1024 };

/* State of one comparison. */
struct diff {
    const struct node_view *view;
    json_t *old_labels; /* names of what Ostler set, by the annotation; borrowed from `said` */
    json_t *old_taints; /* the same */
    /* Of these, the feature labels that Ostler wrote: key to value; borrowed from `said`. */
    json_t *old_features;
    json_t *said;
    json_t *set_labels; /* changes of labels: value or null */
    json_t *our_labels; /* names of Ostler's labels afterwards */
    json_t *our_taints;
    json_t *our_features; /* the same afterwards */
    /* names of annotations that keep autoscalers off (keeping_change()), afterwards */
    json_t *our_keeps;
    char *old_upgrade;   /* the taint that goes with a claim, as named in the annotation */
    const char *upgrade; /* key of the wanted one; NULL: none */
    json_t *left;        /* names of labels that stay and that Ostler disowns */
    json_t *taints;      /* the node's whole list, changed or not */
    bool taints_changed;
};

static json_t *marks_parse(const struct node_view *view, uint32_t text_id)
{
    const char *text = intern_text(view->strings, text_id);
    return text ? json_parse(text, strlen(text), NULL) : NULL;
}

/* Key and effect identify a taint. */
static size_t find_taint(const json_t *taints, const char *key, const char *effect)
{
    JSON_EACH_AT (i, t, taints)
        if (str_eq(json_str(t, "key"), key) && str_eq(json_str(t, "effect"), effect))
            return i;
    return SIZE_MAX;
}

/* Index of the taint that the annotation names as "key:effect"; SIZE_MAX: absent, or cannot be
 * Ostler's. */
static size_t find_named_taint(const struct diff *d, const char *name)
{
    const char *colon = name ? strrchr(name, ':') : NULL;
    if (!colon)
        return SIZE_MAX;
    CLEANUP_FREE char *key = xstrndup(name, (size_t) (colon - name));
    return !policy_taint_of_kubernetes(key) ? find_taint(d->taints, key, colon + 1) : SIZE_MAX;
}

/* The key of the taint that goes with the node's claim: the annotation's, else the policy's (NULL:
 * none) if the node has that taint, because another client may have edited the annotation. */
static const char *upgrade_key(const struct diff *d, const char *of_policy)
{
    const char *said = json_str(d->said, MEMBER_UPGRADE);
    if (said)
        return said;
    return of_policy && find_taint(d->taints, of_policy, CLAIM_TAINT_EFFECT) != SIZE_MAX
               ? of_policy
               : TAINT_UPGRADE;
}

/* Takes a taint of the node's, "key:effect", as Ostler's. */
static void own_taint(struct diff *d, const char *name)
{
    if (find_named_taint(d, name) != SIZE_MAX && !json_has_text(d->old_taints, name))
        json_array_append_new(d->old_taints, json_string(name));
}

/* `taint`: the policy's key; NULL: none. */
static void marks_begin(struct diff *d, const struct node_view *view, const char *taint)
{
    *d = (struct diff){ .view = view };
    d->said = marks_parse(view, view->node->marks);
    d->old_labels = json_object_get(d->said, "labels");
    d->old_features = json_object_get(d->said, "features");
    d->old_taints = json_array();
    json_array_extend(d->old_taints, json_object_get(d->said, "taints"));
    d->set_labels = json_object();
    d->our_labels = json_array();
    d->our_taints = json_array();
    d->our_features = json_object();
    d->left = json_array();
    d->taints = marks_parse(view, view->node->taints);
    if (!d->taints)
        d->taints = json_array();
    d->old_upgrade = xasprintf("%s:" CLAIM_TAINT_EFFECT, upgrade_key(d, taint));
    /* The upgrade taint is Ostler's even if another client edited the annotation: a released node
     * must not stay tainted. */
    if (view->node->claim)
        own_taint(d, d->old_upgrade);
    own_taint(d, UNHEALTHY);
}

static void marks_end(struct diff *d)
{
    json_decref(d->said);
    json_decref(d->old_taints);
    json_decref(d->set_labels);
    json_decref(d->our_labels);
    json_decref(d->our_taints);
    json_decref(d->our_features);
    json_decref(d->our_keeps);
    json_decref(d->left);
    json_decref(d->taints);
    free(d->old_upgrade);
}

/* Sets a label (NULL: none) that the node has with the value `now`, if that changes it. */
static void set_label(struct diff *d, const char *key, const char *now, const char *value)
{
    if (!str_eq(now, value))
        json_object_set_new(d->set_labels, key, value ? json_string(value) : json_null());
}

/* Wants a label outside Ostler's prefix. It is Ostler's only if no other client set it first, which
 * is the result. */
static bool want_label(struct diff *d, const char *key, const char *now, const char *value)
{
    if (now && !json_has_text(d->old_labels, key))
        return false;
    json_array_append_new(d->our_labels, json_string(key));
    set_label(d, key, now, value);
    return true;
}

/* A label that GPU feature discovery or another client has changed since belongs to that client:
 * two writers of one label would never stop. */
static bool is_changed(const struct diff *d, const char *key, const char *now)
{
    const char *written = json_key(d->old_features, key);
    return now && written && !str_eq(now, written);
}

static void want_feature(struct diff *d, const char *key, const char *value)
{
    if (json_has_text(d->our_labels, key))
        return;
    const char *now = node_label(d->view, key);
    if (is_changed(d, key, now))
        json_array_append_new(d->left, json_string(key));
    else if (want_label(d, key, now, value))
        json_object_set_new(d->our_features, key, json_string(value));
}

/* Handles the feature labels that were Ostler's, by `rule`. */
static void go_through_features(struct diff *d, enum marks_features rule)
{
    JSON_EACH (entry, d->old_labels) {
        const char *key = json_string_value(entry), *now = key ? node_label(d->view, key) : NULL;
        if (!now || !gpu_feature_is(key))
            continue;
        if (rule == FEATURES_LEFT)
            json_array_append_new(d->left, json_string(key));
        else
            want_feature(d, key, now);
    }
}

static void want_features(struct diff *d, const struct marks *wanted)
{
    if (wanted->features_rule == FEATURES_KEPT || wanted->features_rule == FEATURES_LEFT)
        go_through_features(d, wanted->features_rule);
    else if (wanted->features_rule == FEATURES_SET)
        JSON_EACH_MEMBER (key, value, wanted->features)
            want_feature(d, key, json_string_value(value));
}

/* Whether a key in the annotation is that of a label on the node that can be Ostler's. A kubelet
 * may annotate its node but not remove every label or taint, so it must not be able to make Ostler
 * do that. */
static bool may_be_ours(const struct diff *d, const char *key)
{
    return key && !policy_key_of_kubernetes(key) && node_label(d->view, key);
}

static void drop_unwanted_labels(struct diff *d)
{
    JSON_EACH (entry, d->old_labels) {
        const char *key = json_string_value(entry);
        if (key && !json_has_text(d->our_labels, key) && !json_has_text(d->left, key) &&
            may_be_ours(d, key) && !is_changed(d, key, node_label(d->view, key)))
            json_object_set_new(d->set_labels, key, json_null());
    }
}

/* A label with Ostler's prefix is Ostler's, whoever set it. */
static void own_label(struct diff *d, const char *key, const char *value)
{
    set_label(d, key, node_label(d->view, key), *str_or_empty(value) ? value : NULL);
}

static void own_tier_labels(struct diff *d, struct assignment_ref assigned)
{
    for (enum tier t = 0; t < TIERS; t++)
        own_label(d, tiers[t].label, assigned.hash[t]);
}

static void want_taint(struct diff *d, const struct policy_taint *taint)
{
    CLEANUP_FREE char *name = xasprintf("%s:%s", taint->key, taint->effect);
    size_t at = find_taint(d->taints, taint->key, taint->effect);
    if (at != SIZE_MAX && !json_has_text(d->old_taints, name))
        return; /* another client's: it counts, and stays theirs */
    json_array_append_new(d->our_taints, json_string(name));
    if (at != SIZE_MAX &&
        str_eq(json_str_or_empty(json_array_get(d->taints, at), "value"), taint->value))
        return;
    json_t *wanted = json_pack("{s:s, s:s, s:s}", "key", taint->key, "value", taint->value,
                               "effect", taint->effect);
    if (at == SIZE_MAX)
        json_array_append_new(d->taints, wanted);
    else
        json_array_set_new(d->taints, at, wanted);
    d->taints_changed = true;
}

static void drop_unwanted_taints(struct diff *d)
{
    JSON_EACH (entry, d->old_taints) {
        const char *name = json_string_value(entry);
        size_t at = find_named_taint(d, name);
        if (at == SIZE_MAX || json_has_text(d->our_taints, name))
            continue;
        json_array_remove(d->taints, at);
        d->taints_changed = true;
    }
}

/* Removes a taint, whoever set it, with any effect. */
static void drop_taint(struct diff *d, const char *key)
{
    for (size_t i = json_array_size(d->taints); i-- > 0;)
        if (str_eq(json_str(json_array_get(d->taints, i), "key"), key)) {
            json_array_remove(d->taints, i);
            d->taints_changed = true;
        }
}

static void want_upgrade_taint(struct diff *d, const struct claim *claim, const char *key)
{
    if (!claim || !claim_closes(claim))
        return;
    d->upgrade = key;
    want_taint(d, &(struct policy_taint){ .key = key,
                                          .value = claim_kinds[claim->kind].name,
                                          .effect = CLAIM_TAINT_EFFECT });
}

/* The record says which fault it is: the value only says that it is one. */
static void want_unhealthy_taint(struct diff *d)
{
    want_taint(d, &(struct policy_taint){ .key = TAINT_UNHEALTHY,
                                          .value = reason_text(REASON_GPU_FAULT),
                                          .effect = CLAIM_TAINT_EFFECT });
}

/* Keeps unknown members, which a newer version needs to know what it set. Anything larger than a
 * newer version would write is not kept. */
static void keep_more(const struct diff *d, json_t *ret)
{
    if (!json_is_object(d->said))
        return;
    CLEANUP_JSON json_t *more = json_copy(d->said);
    static const char *const known[] = { "labels", "taints", "annotations", "features",
                                         MEMBER_UPGRADE };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        json_object_del(more, known[i]);
    CLEANUP_FREE char *text = json_compact(more);
    if (strlen(text) < MARKS_MORE_MAX)
        json_object_update_missing(ret, more);
}

/* The annotation's text, or NULL if nothing is Ostler's. */
static char *marks_text(const struct diff *d)
{
    bool keeps = json_array_size(d->our_keeps), features = json_object_size(d->our_features);
    bool renamed = d->upgrade && !str_eq(d->upgrade, TAINT_UPGRADE);
    if (!json_array_size(d->our_labels) && !json_array_size(d->our_taints) && !keeps)
        return NULL;
    CLEANUP_JSON json_t *said = json_pack(
        "{s:O, s:O, s:O*, s:O*, s:s*}", "labels", d->our_labels, "taints", d->our_taints,
        "annotations", keeps ? d->our_keeps : NULL, "features", features ? d->our_features : NULL,
        MEMBER_UPGRADE, renamed ? d->upgrade : NULL);
    keep_more(d, said);
    return json_compact(said);
}

/* Keeps autoscalers from removing a node while Ostler changes it. From the drain on, its GPU pods
 * are away, so an autoscaler would treat it as unused and remove it within a minute. Ostler sets
 * and removes the annotations together with the claim; ostler.dev/marks names those that Ostler
 * set. Ostler never changes an annotation that another client set.
 *
 * Adds the change of these annotations, when the node gets `claim` (NULL: none), to `annotations`
 * (key to value, null: remove), which has any change of the claim already. Annotations are set only
 * in a write that changes the claim, so one that a user removes in between stays removed. Returns
 * the keys that are Ostler's afterwards; new reference. */
static json_t *keeping_change(const struct diff *d, const struct claim *claim, json_t *annotations)
{
    bool wanted = claim && claim_keeps_node(claim);
    bool may_set = wanted && json_object_get(annotations, ANNOTATION_CLAIM);
    const struct node_view *view = d->view;
    const json_t *ours = json_object_get(d->said, "annotations");
    json_t *stay = json_array();
    for (size_t i = 0; i < KEEP_COUNT; i++) {
        const char *key = autoscaler_keeps[i],
                   *now = intern_text(view->strings, view->node->keeps[i]);
        bool was_ours = json_has_text(ours, key),
             theirs = now && !(was_ours && str_eq(now, KEEPS_VALUE));
        bool sets = may_set && !now && !was_ours;
        if (theirs)
            continue;
        if (sets)
            json_object_set_new(annotations, key, json_string(KEEPS_VALUE));
        else if (!wanted && now)
            json_object_set_new(annotations, key, json_null());
        if (sets || (wanted && was_ours))
            json_array_append_new(stay, json_string(key));
    }
    return stay;
}

static void set_annotation(json_t *patch, const char *key, const char *now, const char *wanted)
{
    if (!str_eq(now, wanted))
        json_object_set_new(patch, key, wanted ? json_string(wanted) : json_null());
}

/* Whether a claim does what a user asks for with the annotation ostler.dev/repair. */
static bool claim_answers(const struct claim *c)
{
    return c && claim_kinds[c->kind].repairs && c->phase != CLAIM_FAILED;
}

/* What a user asks for: a claim that answers it takes the annotation, and one that goes before the
 * repair has begun gives it back. */
static void set_request(const struct diff *d, const struct marks *wanted, json_t *annotations)
{
    char at[CLOCK_TEXT_MAX];
    const char *now = intern_text(d->view->strings, d->view->node->repair);
    if (claim_answers(wanted->claim)) {
        set_annotation(annotations, ANNOTATION_REPAIR, now, NULL);
    } else if (wanted->asked && !now) {
        clock_rfc3339(wanted->asked->claimed_s * 1000000, at);
        set_annotation(annotations, ANNOTATION_REPAIR, now, at);
    }
}

/* The patch of the differences; NULL: none. */
static json_t *marks_build(struct diff *d, const struct marks *wanted)
{
    const struct node *n = d->view->node;
    CLEANUP_JSON json_t *annotations = json_object();
    CLEANUP_FREE char *claim = wanted->claim ? claim_text(wanted->claim) : NULL;
    set_annotation(annotations, ANNOTATION_CLAIM, intern_text(d->view->strings, n->claim), claim);
    d->our_keeps = keeping_change(d, wanted->claim, annotations);
    CLEANUP_FREE char *text = marks_text(d);
    set_annotation(annotations, ANNOTATION_MARKS, intern_text(d->view->strings, n->marks), text);
    set_annotation(annotations, ANNOTATION_GAVE_UP, intern_text(d->view->strings, n->gave_up),
                   wanted->gave_up);
    set_annotation(annotations, ANNOTATION_PROOF, intern_text(d->view->strings, n->proof),
                   wanted->proof);
    set_annotation(annotations, ANNOTATION_FAULT, intern_text(d->view->strings, n->fault),
                   wanted->fault);
    set_request(d, wanted, annotations);
    set_annotation(annotations, ANNOTATION_HOST_DRIVER, n->host_driver ? "true" : NULL,
                   wanted->host_driver ? "true" : NULL);
    struct node_change change = { .labels = d->set_labels,
                                  .annotations = annotations,
                                  .taints = d->taints_changed ? d->taints : NULL,
                                  .rests_on_taints = claim && !n->claim };
    return node_patch(d->view, &change);
}

/* NULL: no label, and the follower runs here as on most nodes. */
static const char *followers_label(const struct marks *wanted, enum operand follower)
{
    return wanted->off >> follower & 1               ? "false"
           : wanted->default_runtime >> follower & 1 ? NODE_CARDS_DEFAULT_RUNTIME
                                                     : NULL;
}

json_t *marks_patch(const struct node_view *view, const struct marks *wanted)
{
    CLEANUP(marks_end) struct diff d;
    marks_begin(&d, view, wanted->claim_taint);
    JSON_EACH_MEMBER (key, value, wanted->labels)
        want_label(&d, key, node_label(view, key), json_string_value(value));
    want_features(&d, wanted);
    drop_unwanted_labels(&d);
    own_tier_labels(&d, wanted->assigned);
    own_label(&d, LABEL_REMOVAL, NULL);
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->off_label)
            own_label(&d, o->off_label, followers_label(wanted, o->id));
    if (wanted->taint.enabled)
        want_taint(&d, &wanted->taint);
    want_upgrade_taint(&d, wanted->claim, wanted->claim_taint);
    if (wanted->startup)
        want_taint(&d, wanted->startup);
    if (wanted->unhealthy)
        want_unhealthy_taint(&d);
    drop_unwanted_taints(&d);
    if (wanted->opens)
        drop_taint(&d, wanted->opens);
    if (!wanted->unhealthy)
        drop_taint(&d, TAINT_UNHEALTHY);
    return marks_build(&d, wanted);
}

/* Keeps what was Ostler's, except the taint that goes with a claim, and this one (NULL: none). */
static void keep_all(struct diff *d, const char *but)
{
    json_array_extend(d->our_labels, d->old_labels);
    json_object_update(d->our_features, d->old_features);
    JSON_EACH (entry, d->old_taints)
        if (!str_eq(json_string_value(entry), d->old_upgrade) &&
            !str_eq(json_string_value(entry), but))
            json_array_append(d->our_taints, entry);
}

/* The patch that sets this claim, or none, and the record of a fault, and keeps the other
 * annotations. */
static json_t *build_the_rest_as_it_is(struct diff *d, const struct claim *claim,
                                       const struct claim *asked, const char *fault)
{
    const struct node *n = d->view->node;
    const struct intern *strings = d->view->strings;
    return marks_build(d, &(struct marks){ .claim = claim,
                                           .asked = asked,
                                           .gave_up = intern_text(strings, n->gave_up),
                                           .proof = intern_text(strings, n->proof),
                                           .fault = fault,
                                           .host_driver = n->host_driver });
}

json_t *marks_release_patch(const struct node_view *view, struct assignment_ref assigned,
                            const char *removal)
{
    CLEANUP(marks_end) struct diff d;
    marks_begin(&d, view, NULL);
    keep_all(&d, UNHEALTHY);
    drop_taint(&d, TAINT_UNHEALTHY);
    drop_unwanted_taints(&d);
    own_tier_labels(&d, assigned);
    own_label(&d, LABEL_REMOVAL, removal);
    return build_the_rest_as_it_is(&d, NULL, NULL, NULL);
}

json_t *marks_claim_patch(const struct node_view *view, const struct claim *claim,
                          const char *taint)
{
    CLEANUP(marks_end) struct diff d;
    struct claim was;
    const char *text = intern_text(view->strings, view->node->claim);
    bool asked = !claim && text && claim_parse(text, &was, NULL) && claim_is_asked(&was);
    marks_begin(&d, view, taint);
    keep_all(&d, NULL);
    want_upgrade_taint(&d, claim, taint);
    drop_unwanted_taints(&d);
    return build_the_rest_as_it_is(&d, claim, asked ? &was : NULL,
                                   intern_text(view->strings, view->node->fault));
}

bool marks_have_taint(const struct node_view *view, const char *key)
{
    CLEANUP_JSON json_t *taints = marks_parse(view, view->node->taints);
    return json_find(taints, "key", key) != NULL;
}

bool marks_closed(const struct node_view *view)
{
    /* Called often for every node. A user may have removed the taint together with the claim. */
    const char *taints = intern_text(view->strings, view->node->taints),
               *said = intern_text(view->strings, view->node->marks);
    if (!strstr(str_or_empty(taints), TAINT_UPGRADE) &&
        !strstr(str_or_empty(said), TAINT_UPGRADE) &&
        !strstr(str_or_empty(said), "\"" MEMBER_UPGRADE "\""))
        return false;
    CLEANUP(marks_end) struct diff d;
    marks_begin(&d, view, NULL);
    return json_has_text(d.old_taints, d.old_upgrade);
}

static bool has_off_label(const struct node_view *view)
{
    bool has = false;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        has |= o->off_label && node_label(view, o->off_label);
    return has;
}

bool marks_any(const struct node_view *view)
{
    const struct node *n = view->node;
    return n->marks || n->claim || n->gave_up || n->proof || n->fault || n->host_driver ||
           node_is_assigned(view) || node_label(view, LABEL_REMOVAL) || has_off_label(view);
}

/* Whether the node has a label or taint that the annotation names. */
static bool bears_named(const struct diff *d)
{
    JSON_EACH (entry, d->old_labels)
        if (may_be_ours(d, json_string_value(entry)))
            return true;
    JSON_EACH (entry, d->old_taints)
        if (find_named_taint(d, json_string_value(entry)) != SIZE_MAX)
            return true;
    return false;
}

bool marks_show_gpu(const struct node_view *view)
{
    if (node_is_assigned(view))
        return true;
    CLEANUP(marks_end) struct diff d;
    marks_begin(&d, view, NULL);
    return bears_named(&d);
}
