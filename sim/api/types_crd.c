/* CustomResourceDefinitions. Their schemas are kept as they are. */
#include "sim/api/types.h"

#include "sim/api/complete.h"

static const struct field custom_resource_definition_names_fields[] = {
    FIELD("categories", LIST_OF | STRING),
    FIELD("kind", STRING, .fallback = ""),
    FIELD("listKind", STRING),
    FIELD("plural", STRING, .fallback = ""),
    FIELD("shortNames", LIST_OF | STRING),
    FIELD("singular", STRING),
    { 0 },
};
static const struct type type_custom_resource_definition_names = { "CustomResourceDefinitionNames",
                                                                   custom_resource_definition_names_fields, NULL };

static const struct field custom_resource_column_definition_fields[] = {
    FIELD("description", STRING),
    FIELD("format", STRING),
    FIELD("jsonPath", STRING, .fallback = ""),
    FIELD("name", STRING, .fallback = ""),
    FIELD("priority", INT32 | KEEP_ZERO),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_custom_resource_column_definition = { "CustomResourceColumnDefinition",
                                                                    custom_resource_column_definition_fields, NULL };

static const struct field custom_resource_validation_fields[] = {
    FIELD("openAPIV3Schema", FREE),
    { 0 },
};
static const struct type type_custom_resource_validation = { "CustomResourceValidation", custom_resource_validation_fields,
                                                             NULL };

static const struct field selectable_field_fields[] = {
    FIELD("jsonPath", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_selectable_field = { "SelectableField", selectable_field_fields, NULL };

static const struct field custom_resource_subresource_scale_fields[] = {
    FIELD("labelSelectorPath", STRING | KEEP_ZERO),
    FIELD("specReplicasPath", STRING, .fallback = ""),
    FIELD("statusReplicasPath", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_custom_resource_subresource_scale = { "CustomResourceSubresourceScale",
                                                                    custom_resource_subresource_scale_fields, NULL };

static const struct field custom_resource_subresource_status_fields[] = {
    { 0 },
};
static const struct type type_custom_resource_subresource_status = { "CustomResourceSubresourceStatus",
                                                                     custom_resource_subresource_status_fields, NULL };

static const struct field custom_resource_subresources_fields[] = {
    FIELD("scale", STRUCT, .of = &type_custom_resource_subresource_scale),
    FIELD("status", STRUCT, .of = &type_custom_resource_subresource_status),
    { 0 },
};
static const struct type type_custom_resource_subresources = { "CustomResourceSubresources", custom_resource_subresources_fields,
                                                               NULL };

static const struct field custom_resource_definition_version_fields[] = {
    FIELD("additionalPrinterColumns", LIST_OF | STRUCT, .of = &type_custom_resource_column_definition),
    FIELD("deprecated", BOOL),
    FIELD("deprecationWarning", STRING),
    FIELD("name", STRING, .fallback = ""),
    FIELD("schema", STRUCT, .of = &type_custom_resource_validation),
    FIELD("selectableFields", LIST_OF | STRUCT, .of = &type_selectable_field),
    FIELD("served", BOOL, .fallback = "false"),
    FIELD("storage", BOOL, .fallback = "false"),
    FIELD("subresources", STRUCT, .of = &type_custom_resource_subresources),
    { 0 },
};
static const struct type type_custom_resource_definition_version = { "CustomResourceDefinitionVersion",
                                                                     custom_resource_definition_version_fields, NULL };

static const struct field custom_resource_definition_spec_fields[] = {
    FIELD("conversion", FREE),
    FIELD("group", STRING, .fallback = ""),
    FIELD("names", STRUCT, .of = &type_custom_resource_definition_names, .fallback = "{}"),
    FIELD("preserveUnknownFields", BOOL),
    FIELD("scope", STRING, .fallback = ""),
    FIELD("versions", LIST_OF | STRUCT, .of = &type_custom_resource_definition_version),
    { 0 },
};
static const struct type type_custom_resource_definition_spec = { "CustomResourceDefinitionSpec",
                                                                  custom_resource_definition_spec_fields,
                                                                  complete_custom_resource_definition_spec };

static const struct field custom_resource_definition_condition_fields[] = {
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("observedGeneration", INT64),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_custom_resource_definition_condition = { "CustomResourceDefinitionCondition",
                                                                       custom_resource_definition_condition_fields, NULL };

static const struct field custom_resource_definition_status_fields[] = {
    FIELD("acceptedNames", STRUCT, .of = &type_custom_resource_definition_names, .fallback = "{}"),
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_custom_resource_definition_condition),
    FIELD("observedGeneration", INT64),
    FIELD("storedVersions", LIST_OF | STRING),
    { 0 },
};
static const struct type type_custom_resource_definition_status = { "CustomResourceDefinitionStatus",
                                                                    custom_resource_definition_status_fields, NULL };

static const struct field custom_resource_definition_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_custom_resource_definition_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_custom_resource_definition_status, .fallback = "{}"),
    { 0 },
};
const struct type type_custom_resource_definition = { "CustomResourceDefinition", custom_resource_definition_fields, NULL };
