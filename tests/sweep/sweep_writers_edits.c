#include "tests/sweep/sweep_writers_edits.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/gpu_features.h"
#include "reconcilers/model/names.h"

enum { KEYS = 3 };

/* Labels and taints that the policies of the life set on nodes. */
static const char *const contested_labels[] = { LABEL_GPU_PRESENT, "example.com/gpus" };
static const char *const contested_taints[] = { "nvidia.com/gpu", "example.com/gpu",
                                                "ostler.dev/upgrade" };

static bool is_in(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

/* Ostler's own, though not by their prefixes: they keep autoscalers from removing a node that is
 * claimed. */
static bool keeps_node(const char *key)
{
    return str_eq(key, "cluster-autoscaler.kubernetes.io/scale-down-disabled") ||
           str_eq(key, "karpenter.sh/do-not-disrupt");
}

static bool is_foreign_key(const char *key)
{
    return str_has_prefix(key, WRITERS_DOMAIN) ||
           (strstr(key, "kubernetes.io/") && !keeps_node(key));
}

/* ---- patches */

static json_t *map_patch(const char *map, const char *key, json_t *value_steal)
{
    return json_pack("{s:{s:{s:o}}}", "metadata", map, key, value_steal);
}

/* A list of taints is written whole, and only over the version that was read. */
static json_t *taints_patch(const json_t *node, json_t *taints_steal)
{
    return json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion",
                     json_str_or_empty(node, "metadata.resourceVersion"), "spec", "taints",
                     taints_steal);
}

static json_t *own_key(struct rng *rng)
{
    return json_textf(WRITERS_DOMAIN "k%d", (int) rng_below(rng, KEYS));
}

static json_t *some_value(struct rng *rng)
{
    return json_textf("v%llu", (unsigned long long) rng_below(rng, 1000000));
}

static json_t *set_own(const char *map, struct rng *rng)
{
    CLEANUP_JSON json_t *key = own_key(rng);
    return map_patch(map, json_string_value(key), some_value(rng));
}

static json_t *remove_own(const char *map, struct rng *rng)
{
    CLEANUP_JSON json_t *key = own_key(rng);
    return map_patch(map, json_string_value(key), json_null());
}

/* ---- labels and annotations */

static json_t *set_label(const json_t *object, struct rng *rng)
{
    (void) object;
    return set_own("labels", rng);
}

static json_t *remove_label(const json_t *object, struct rng *rng)
{
    (void) object;
    return remove_own("labels", rng);
}

static json_t *set_annotation(const json_t *object, struct rng *rng)
{
    (void) object;
    return set_own("annotations", rng);
}

static json_t *remove_annotation(const json_t *object, struct rng *rng)
{
    (void) object;
    return remove_own("annotations", rng);
}

/* ---- taints */

static size_t find_taint(const json_t *taints, bool (*is)(const char *key))
{
    size_t i;
    json_t *taint;
    json_array_foreach ((json_t *) taints, i, taint)
        if (is(json_str_or_empty(taint, "key")))
            return i;
    return SIZE_MAX;
}

static bool is_own_key(const char *key)
{
    return str_has_prefix(key, WRITERS_DOMAIN);
}

static bool is_contested_taint(const char *key)
{
    return is_in(contested_taints, ARRAY_LEN(contested_taints), key);
}

static json_t *taints_of(const json_t *node)
{
    const json_t *taints = json_at(node, "spec.taints");
    return taints ? json_copy((json_t *) taints) : json_array();
}

static json_t *add_taint(const json_t *node, struct rng *rng)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule" };
    json_t *taints = taints_of(node), *taint;
    size_t i;
    CLEANUP_JSON json_t *key = own_key(rng);
    const char *effect = effects[rng_below(rng, ARRAY_LEN(effects))];
    json_array_foreach (taints, i, taint)
        if (str_eq(json_str(taint, "key"), json_string_value(key)) &&
            str_eq(json_str(taint, "effect"), effect)) {
            json_array_remove(taints, i);
            break;
        }
    /* Anywhere: a list that is written whole must keep all of it. */
    json_array_insert_new(
        taints, rng_below(rng, json_array_size(taints) + 1),
        json_pack("{s:O, s:o, s:s}", "key", key, "value", some_value(rng), "effect", effect));
    return taints_patch(node, taints);
}

static json_t *remove_taint_that(const json_t *node, bool (*is)(const char *key))
{
    CLEANUP_JSON json_t *taints = taints_of(node);
    size_t at = find_taint(taints, is);
    if (at == SIZE_MAX)
        return NULL;
    json_array_remove(taints, at);
    return taints_patch(node, json_incref(taints));
}

static json_t *remove_taint(const json_t *node, struct rng *rng)
{
    (void) rng;
    return remove_taint_that(node, is_own_key);
}

static json_t *cordon(const json_t *node, struct rng *rng)
{
    (void) node;
    (void) rng;
    return json_pack("{s:{s:b}}", "spec", "unschedulable", 1);
}

static json_t *uncordon(const json_t *node, struct rng *rng)
{
    (void) rng;
    return json_bool(node, "spec.unschedulable", false)
               ? json_pack("{s:{s:n}}", "spec", "unschedulable")
               : NULL;
}

/* ---- thefts */

static json_t *take_label(const json_t *node, struct rng *rng)
{
    (void) node;
    return map_patch("labels", contested_labels[rng_below(rng, ARRAY_LEN(contested_labels))],
                     json_string("stolen"));
}

static json_t *remove_our_label(const json_t *node, struct rng *rng)
{
    const char *key = contested_labels[rng_below(rng, ARRAY_LEN(contested_labels))];
    return object_label(node, key) ? map_patch("labels", key, json_null()) : NULL;
}

static json_t *take_taint(const json_t *node, struct rng *rng)
{
    json_t *taints = taints_of(node);
    size_t at = find_taint(taints, is_contested_taint);
    const char *key = at == SIZE_MAX ? contested_taints[rng_below(rng, ARRAY_LEN(contested_taints))]
                                     : json_str(json_array_get(taints, at), "key");
    json_t *taint = json_pack("{s:s, s:s, s:s}", "key", key, "value", "stolen", "effect",
                              "NoSchedule");
    if (at == SIZE_MAX)
        json_array_append_new(taints, taint);
    else
        json_array_set_new(taints, at, taint);
    return taints_patch(node, taints);
}

static json_t *remove_our_taint(const json_t *node, struct rng *rng)
{
    (void) rng;
    return remove_taint_that(node, is_contested_taint);
}

static json_t *spoil_marks(const json_t *node, struct rng *rng)
{
    static const char *const garbage[] = {
        "",
        "garbage",
        "{",
        "[]",
        "null",
        "{}",
        "{\"labels\": 1, \"taints\": {}}",
        "{\"labels\": [null, 7, []], \"taints\": [\":\", \"x\", 1]}",
        /* What is Kubernetes' own is not Ostler's, whatever the annotation says. */
        ("{\"labels\": [\"kubernetes.io/hostname\", \"kubernetes.io/os\"], \"taints\": "
         "[\"node.kubernetes.io/unschedulable:NoSchedule\"]}"),
    };
    (void) node;
    return map_patch("annotations", ANNOTATION_MARKS,
                     json_string(garbage[rng_below(rng, ARRAY_LEN(garbage))]));
}

static json_t *remove_marks(const json_t *node, struct rng *rng)
{
    (void) rng;
    return object_annotation(node, ANNOTATION_MARKS)
               ? map_patch("annotations", ANNOTATION_MARKS, json_null())
               : NULL;
}

static json_t *spoil_intent(const json_t *child, struct rng *rng)
{
    if (!object_annotation(child, ANNOTATION_INTENT))
        return NULL;
    return map_patch("annotations", ANNOTATION_INTENT,
                     rng_one_in(rng, 2) ? json_null() : json_string("garbage"));
}

/* ---- all of them */

static const struct writers_edit edits[] = {
    { "adds a taint", "writer-of-taints", WRITERS_NODE, WRITERS_OWN, add_taint },
    { "takes a taint off", "writer-of-taints", WRITERS_NODE, WRITERS_OWN, remove_taint },
    { "sets a label", "writer-of-labels", WRITERS_ANY, WRITERS_OWN, set_label },
    { "takes a label off", "writer-of-labels", WRITERS_ANY, WRITERS_OWN, remove_label },
    { "sets an annotation", "writer-of-annotations", WRITERS_ANY, WRITERS_OWN, set_annotation },
    { "takes an annotation off", "writer-of-annotations", WRITERS_ANY, WRITERS_OWN,
      remove_annotation },
    { "cordons", "writer-of-cordons", WRITERS_NODE, WRITERS_CORDON, cordon },
    { "uncordons", "writer-of-cordons", WRITERS_NODE, WRITERS_CORDON, uncordon },
    { "sets a label of ours", "thief", WRITERS_NODE, WRITERS_THEFT, take_label },
    { "takes a label of ours off", "thief", WRITERS_NODE, WRITERS_THEFT, remove_our_label },
    { "sets our taint", "thief", WRITERS_NODE, WRITERS_THEFT, take_taint },
    { "takes our taint off", "thief", WRITERS_NODE, WRITERS_THEFT, remove_our_taint },
    { "spoils " ANNOTATION_MARKS, "thief", WRITERS_NODE, WRITERS_THEFT, spoil_marks },
    { "takes " ANNOTATION_MARKS " off", "thief", WRITERS_NODE, WRITERS_THEFT, remove_marks },
    { "spoils " ANNOTATION_INTENT, "thief", WRITERS_CHILD, WRITERS_THEFT, spoil_intent },
};

const struct writers_edit *writers_edits(size_t *ret_count)
{
    *ret_count = ARRAY_LEN(edits);
    return edits;
}

bool writers_do(struct api *api, const struct writers_edit *edit, const struct kind *k,
                const json_t *object, struct rng *rng)
{
    CLEANUP_JSON json_t *patch = edit->patch(object, rng);
    return patch && api_merge(api, edit->user, k, object_namespace(object), object_name(object), "",
                              patch, NULL) == 0;
}

/* ---- what is whose */

static void add_foreign_keys(json_t *into, const char *name, const json_t *map)
{
    const char *key;
    json_t *value;
    json_t *foreign = json_object();
    json_object_foreach ((json_t *) map, key, value)
        if (is_foreign_key(key))
            json_object_set(foreign, key, value);
    json_object_set_new(into, name, foreign);
}

json_t *writers_foreign(const json_t *object)
{
    json_t *out = json_object(), *taints = json_object(), *taint;
    size_t i;
    add_foreign_keys(out, "labels", json_at(object, "metadata.labels"));
    add_foreign_keys(out, "annotations", json_at(object, "metadata.annotations"));
    json_array_foreach (json_at(object, "spec.taints"), i, taint) {
        const char *key = json_str_or_empty(taint, "key");
        CLEANUP_FREE char *name = xasprintf("%s:%s", key, json_str_or_empty(taint, "effect"));
        if (!is_contested_taint(key) && !str_eq(key, TAINT_STARTUP))
            json_object_set(taints, name, taint);
    }
    json_object_set_new(out, "taints", taints);
    json_object_set_new(out, "unschedulable",
                        json_boolean(json_bool(object, "spec.unschedulable", false)));
    return out;
}

static bool null_keys(json_t *patch, const json_t *object, const char *path,
                      bool (*is)(const char *key))
{
    const char *key;
    json_t *value;
    bool any = false;
    json_object_foreach (json_at(object, path), key, value)
        if (is(key)) {
            CLEANUP_JSON json_t *map = json_incref(json_at(patch, path));
            if (!map)
                json_set_at(patch, path, json_incref(map = json_object()));
            json_object_set_new(map, key, json_null());
            any = true;
        }
    return any;
}

static bool drop_taints(json_t *patch, const json_t *node, bool (*is)(const char *key))
{
    CLEANUP_JSON json_t *taints = taints_of(node);
    bool any = false;
    for (size_t at; (at = find_taint(taints, is)) != SIZE_MAX; any = true)
        json_array_remove(taints, at);
    if (any)
        json_set_at(patch, "spec.taints", json_incref(taints));
    return any;
}

json_t *writers_clean(const json_t *object)
{
    json_t *patch = json_object();
    bool any = null_keys(patch, object, "metadata.labels", is_own_key);
    any |= null_keys(patch, object, "metadata.annotations", is_own_key);
    any |= drop_taints(patch, object, is_own_key);
    if (any)
        return patch;
    json_decref(patch);
    return NULL;
}

/* Without the annotation that says whose they are, labels that say what its GPUs are count as
 * others', and keep what they say; so do annotations that keep autoscalers off. */
static bool is_contested_label(const char *key)
{
    return is_in(contested_labels, ARRAY_LEN(contested_labels), key) || gpu_feature_is(key);
}

json_t *writers_repent(const json_t *node)
{
    json_t *patch = json_object();
    bool any = null_keys(patch, node, "metadata.labels", is_contested_label);
    any |= null_keys(patch, node, "metadata.annotations", keeps_node);
    any |= drop_taints(patch, node, is_contested_taint);
    if (any)
        return patch;
    json_decref(patch);
    return NULL;
}
