/* Metadata and what is used by several kinds. */
#include "sim/api/types.h"

static const struct field managed_fields_entry_fields[] = {
    FIELD("apiVersion", STRING), FIELD("fieldsType", STRING),  FIELD("fieldsV1", FREE), FIELD("manager", STRING),
    FIELD("operation", STRING),  FIELD("subresource", STRING), FIELD("time", TIME),     { 0 },
};
static const struct type type_managed_fields_entry = { "ManagedFieldsEntry", managed_fields_entry_fields, NULL };

static const struct field owner_reference_fields[] = {
    FIELD("apiVersion", STRING, .fallback = ""),
    FIELD("blockOwnerDeletion", BOOL | KEEP_ZERO),
    FIELD("controller", BOOL | KEEP_ZERO),
    FIELD("kind", STRING, .fallback = ""),
    FIELD("name", STRING, .fallback = ""),
    FIELD("uid", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_owner_reference = { "OwnerReference", owner_reference_fields, NULL };

static const struct field object_meta_fields[] = {
    FIELD("annotations", MAP_OF | STRING),
    FIELD("creationTimestamp", TIME),
    FIELD("deletionGracePeriodSeconds", INT64 | KEEP_ZERO),
    FIELD("deletionTimestamp", TIME),
    FIELD("finalizers", LIST_OF | STRING),
    FIELD("generateName", STRING),
    FIELD("generation", INT64),
    FIELD("labels", MAP_OF | STRING),
    FIELD("managedFields", LIST_OF | STRUCT, .of = &type_managed_fields_entry),
    FIELD("name", STRING),
    FIELD("namespace", STRING),
    FIELD("ownerReferences", LIST_OF | STRUCT, .of = &type_owner_reference),
    FIELD("resourceVersion", STRING),
    FIELD("selfLink", STRING),
    FIELD("uid", STRING),
    { 0 },
};
const struct type type_object_meta = { "ObjectMeta", object_meta_fields, NULL };

static const struct field preconditions_fields[] = { FIELD("resourceVersion", STRING), FIELD("uid", STRING), { 0 } };
static const struct type type_preconditions = { "Preconditions", preconditions_fields, NULL };

static const struct field delete_options_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("dryRun", LIST_OF | STRING),
    FIELD("gracePeriodSeconds", INT64),
    FIELD("kind", STRING),
    FIELD("orphanDependents", BOOL),
    FIELD("preconditions", STRUCT, .of = &type_preconditions),
    FIELD("propagationPolicy", STRING),
    { 0 },
};
const struct type type_delete_options = { "DeleteOptions", delete_options_fields, NULL };

static const struct field label_selector_requirement_fields[] = {
    FIELD("key", STRING, .fallback = ""),
    FIELD("operator", STRING, .fallback = ""),
    FIELD("values", LIST_OF | STRING),
    { 0 },
};
static const struct type type_label_selector_requirement = { "LabelSelectorRequirement", label_selector_requirement_fields,
                                                             NULL };

static const struct field label_selector_fields[] = {
    FIELD("matchExpressions", LIST_OF | STRUCT, .of = &type_label_selector_requirement),
    FIELD("matchLabels", MAP_OF | STRING),
    { 0 },
};
const struct type type_label_selector = { "LabelSelector", label_selector_fields, NULL };

static const struct field condition_fields[] = {
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING, .fallback = ""),
    FIELD("observedGeneration", INT64),
    FIELD("reason", STRING, .fallback = ""),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
const struct type type_condition = { "Condition", condition_fields, NULL };

static const struct field object_reference_fields[] = {
    FIELD("apiVersion", STRING), FIELD("fieldPath", STRING),       FIELD("kind", STRING), FIELD("name", STRING),
    FIELD("namespace", STRING),  FIELD("resourceVersion", STRING), FIELD("uid", STRING),  { 0 },
};
const struct type type_object_reference = { "ObjectReference", object_reference_fields, NULL };

static const struct field local_object_reference_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    { 0 },
};
const struct type type_local_object_reference = { "LocalObjectReference", local_object_reference_fields, NULL };
