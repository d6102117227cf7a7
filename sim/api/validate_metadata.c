/* Validation of names, labels and annotations, as the API server has it. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/kind.h"
#include "sim/api/text.h"
#include "sim/api/validate.h"

/* Keys and values of all annotations together. */
enum { ANNOTATIONS_MAX = 256 << 10 };

void validate_labels(const json_t *labels, const struct spot *at, struct refusal *r)
{
    JSON_EACH_MEMBER (key, value, labels) {
        validate_qualified_name(key, at, r);
        validate_label_value(str_or_empty(json_string_value(value)), at, r);
    }
}

static void validate_annotations(const json_t *annotations, const struct spot *at,
                                 struct refusal *r)
{
    size_t total = 0;
    JSON_EACH_MEMBER (key, value, annotations) {
        total += strlen(key) + json_string_length(value);
        /* Keys of annotations are held to the rules in lower case. */
        CLEANUP_FREE char *lower = text_lower(key);
        validate_qualified_name(lower, at, r);
    }
    if (total > ANNOTATIONS_MAX)
        spot_too_long(r, at, ANNOTATIONS_MAX);
}

/* Kinds whose names are one part of a domain name. */
static bool is_label_named(const struct kind *k)
{
    return !*k->group && (str_eq(k->kind, "Namespace") || str_eq(k->kind, "Service"));
}

static void validate_own_name(const struct kind *k, const char *name, const struct spot *at,
                              struct refusal *r)
{
    const struct spot *here = SPOT(at, "name");
    if (is_label_named(k))
        validate_dns_label(name, true, here, r);
    else
        validate_subdomain(name, here, r);
}

/* ---- owners */

static void validate_owner(const json_t *owner, const struct spot *at, struct refusal *r)
{
    static const struct {
        const char *key, *why;
    } wanted[] = {
        { "apiVersion", "version must not be empty" },
        { "kind", "must not be empty" },
        { "name", "must not be empty" },
        { "uid", "must not be empty" },
    };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        if (!*json_str_or_empty(owner, wanted[i].key))
            spot_invalid_text(r, SPOT(at, wanted[i].key), "", "%s", wanted[i].why);
    }
    if (str_eq(json_key(owner, "kind"), "Event") && str_eq(json_key(owner, "apiVersion"), "v1"))
        spot_invalid(r, at, owner, "/v1, Kind=Event is disallowed from being an owner");
}

static void validate_owners(const json_t *owners, const struct spot *at, struct refusal *r)
{
    const json_t *controller = NULL;
    JSON_EACH_AT (i, owner, owners) {
        validate_owner(owner, at, r);
        if (!json_is_true(json_object_get(owner, "controller")))
            continue;
        if (controller) {
            spot_invalid(r, at, owners,
                         "Only one reference can have Controller set to true. Found \"true\" in "
                         "references for %s/%s and %s/%s",
                         json_str_or_empty(controller, "kind"),
                         json_str_or_empty(controller, "name"), json_str_or_empty(owner, "kind"),
                         json_str_or_empty(owner, "name"));
            return;
        }
        controller = owner;
    }
}

/* ---- finalizers */

/* Finalizers without a domain that Kubernetes has. */
static const char *const standard_finalizers[] = { "kubernetes", "orphan", "foregroundDeletion",
                                                   NULL };

static bool is_known_finalizer(const char *name)
{
    return strchr(name, '/') || str_is_any_of(name, standard_finalizers);
}

static void validate_finalizers(const struct kind *k, const json_t *finalizers,
                                const struct spot *at, struct refusal *r)
{
    JSON_EACH_AT (i, finalizer, finalizers)
        validate_qualified_name(str_or_empty(json_string_value(finalizer)), at, r);
    JSON_EACH_AT (i, finalizer, finalizers) {
        if (!(k->flags & KIND_CUSTOM) &&
            !is_known_finalizer(str_or_empty(json_string_value(finalizer))))
            spot_invalid(r, SPOT_ITEM(at, i), finalizer,
                         "name is neither a standard finalizer name nor is it fully qualified");
    }
}

void validate_metadata(const struct kind *k, const json_t *before, const json_t *after,
                       struct refusal *r)
{
    const json_t *was = json_object_get(before, "metadata"),
                 *is = json_object_get(after, "metadata");
    const struct spot *at = SPOT(NULL, "metadata");
    if (!before)
        validate_own_name(k, object_name(after), at, r);
    const char *const keys[] = { "labels", "annotations", "ownerReferences", "finalizers" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const json_t *value = json_object_get(is, keys[i]);
        if (!value || value == json_object_get(was, keys[i]))
            continue;
        const struct spot *here = SPOT(at, keys[i]);
        if (i == 0)
            validate_labels(value, here, r);
        else if (i == 1)
            validate_annotations(value, here, r);
        else if (i == 2)
            validate_owners(value, here, r);
        else
            validate_finalizers(k, value, here, r);
    }
}
