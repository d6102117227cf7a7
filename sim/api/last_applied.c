#include "sim/api/last_applied.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/field_diff.h"
#include "sim/api/field_set.h"

static const char annotation[] = "kubectl.kubernetes.io/last-applied-configuration";

/* The annotation; "" if there is none or the manager is not kubectl. */
static const char *said(const json_t *object, const char *manager)
{
    return str_eq(manager, "kubectl")
               ? str_or_empty(json_key(json_at(object, "metadata.annotations"), annotation))
               : "";
}

json_t *last_applied_fields(const struct merge_root *root, const json_t *live, const char *manager)
{
    const char *text = said(live, manager);
    CLEANUP_JSON json_t *applied = *text ? json_parse(text, strlen(text), NULL) : NULL;
    if (!json_is_object(applied) ||
        !str_eq(json_key(applied, "apiVersion"), json_key(live, "apiVersion")))
        return NULL;
    CLEANUP_DIFF struct field_diff since;
    field_diff(root, applied, live, &since);
    CLEANUP_JSON json_t *fields = field_tree_set(&root->type, applied);
    CLEANUP_JSON json_t *there = field_set_difference(fields, since.gone);
    return field_set_difference(there, since.set);
}

void last_applied_sync(json_t *object, const json_t *intent, const char *manager)
{
    if (!*said(object, manager))
        return;
    CLEANUP_JSON json_t *plain = json_deep_copy(intent);
    json_object_del(json_at(plain, "metadata.annotations"), annotation);
    CLEANUP_FREE char *text = json_canonical(plain);
    json_t *metadata = json_copy(json_object_get(object, "metadata"));
    json_t *annotations = json_copy(json_object_get(metadata, "annotations"));
    json_object_set_new(annotations, annotation, json_textf("%s\n", text));
    json_object_set_new(metadata, "annotations", annotations);
    json_object_set_new(object, "metadata", metadata);
}
