#include "reconcilers/decide/node_patch.h"

#include <string.h>

#include "base/json.h"
#include "kube/json_patch.h"
#include "reconcilers/model/names.h"

#define LABELS "/metadata/labels"
#define ANNOTATIONS "/metadata/annotations"
#define TAINTS "/spec/taints"

/* Labels that every change depends on, besides those of the tiers. */
static const char *const decisive[] = { LABEL_MANAGED, LABEL_DEPLOY_OPERANDS, LABEL_HOLD };

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static void test_key(json_t *operations, const char *map, const char *key, const char *was)
{
    CLEANUP_FREE char *path = json_patch_path(map, key);
    json_patch_add(operations, "test", path, text_or_null(was));
}

static void test_unchanged(json_t *operations, const struct node_view *view, const json_t *change,
                           const char *label)
{
    if (!json_object_get(change, label))
        test_key(operations, LABELS, label, node_label(view, label));
}

/* If there are no labels at all, one test covers all. */
static void test_labels(json_t *operations, const struct node_view *view, const json_t *change)
{
    if (view->node->label_count == 0) {
        json_patch_add(operations, "test", LABELS, json_null());
        return;
    }
    for (enum tier t = 0; t < TIERS; t++)
        test_unchanged(operations, view, change, tiers[t].label);
    for (size_t i = 0; i < ARRAY_LEN(decisive); i++)
        test_unchanged(operations, view, change, decisive[i]);
    JSON_EACH_MEMBER (key, value, change)
        test_key(operations, LABELS, key, node_label(view, key));
}

/* The validation annotation is tested only if it changes: it cannot let pods onto a node that
 * others keep closed. */
static void test_annotations(json_t *operations, const struct node_view *view, const json_t *change)
{
    const struct node *n = view->node;
    bool proof = json_object_get(change, ANNOTATION_PROOF);
    const struct {
        const char *key;
        uint32_t was;
        bool left_out;
    } rows[] = {
        { ANNOTATION_MARKS, n->marks, n->marks_unreadable },
        { ANNOTATION_CLAIM, n->claim, n->claim_unreadable },
        { ANNOTATION_GAVE_UP, n->gave_up, n->gave_up_unreadable },
        { ANNOTATION_PROOF, n->proof, n->proof_unreadable || !proof },
        { ANNOTATION_FAULT, n->fault,
          n->fault_unreadable || !json_object_get(change, ANNOTATION_FAULT) },
        { ANNOTATION_REPAIR, n->repair,
          n->repair_unreadable || !json_object_get(change, ANNOTATION_REPAIR) },
    };
    if (!n->annotated)
        json_patch_add(operations, "test", ANNOTATIONS, json_null());
    for (size_t i = 0; n->annotated && i < ARRAY_LEN(rows); i++)
        if (!rows[i].left_out)
            test_key(operations, ANNOTATIONS, rows[i].key, intern_text(view->strings, rows[i].was));
    for (size_t i = 0; n->annotated && i < KEEP_COUNT; i++)
        if (json_object_get(change, autoscaler_keeps[i]))
            test_key(operations, ANNOTATIONS, autoscaler_keeps[i],
                     intern_text(view->strings, n->keeps[i]));
}

static void test_taints(json_t *operations, const struct node_view *view)
{
    const char *text = intern_text(view->strings, view->node->taints);
    json_patch_add(operations, "test", TAINTS,
                   text ? json_parse(text, strlen(text), NULL) : json_null());
}

static void set_key(json_t *operations, const char *map, const char *key, json_t *value)
{
    CLEANUP_FREE char *path = json_patch_path(map, key);
    if (json_is_null(value))
        json_patch_add(operations, "remove", path, NULL);
    else
        json_patch_add(operations, "add", path, json_incref(value));
}

/* An absent map is created with its first members. */
static void set_keys(json_t *operations, const char *map, bool there, const json_t *change)
{
    if (!there && json_object_size(change))
        json_patch_add(operations, "add", map, json_copy((json_t *) change));
    else
        JSON_EACH_MEMBER (key, value, change)
            set_key(operations, map, key, value);
}

json_t *node_patch(const struct node_view *view, const struct node_change *change)
{
    const struct node *n = view->node;
    if (!json_object_size(change->labels) && !json_object_size(change->annotations) &&
        !change->taints)
        return NULL;
    json_t *operations = json_array();
    json_patch_add(operations, "test", "/metadata/uid", json_string(RECORD_UID(&n->head)));
    json_patch_add(operations, "test", "/metadata/deletionTimestamp", json_null());
    test_labels(operations, view, change->labels);
    test_annotations(operations, view, change->annotations);
    if (change->taints || change->rests_on_taints)
        test_taints(operations, view);
    set_keys(operations, LABELS, n->label_count > 0, change->labels);
    set_keys(operations, ANNOTATIONS, n->annotated, change->annotations);
    if (change->taints)
        json_patch_add(operations, "add", TAINTS, json_incref((json_t *) change->taints));
    return operations;
}
