#include "reconcilers/model/known_fields.h"

#include "base/json.h"

json_t *known_fields_of(const json_t *crd)
{
    const json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
    return json_at(version, "schema.openAPIV3Schema.properties.status");
}

static json_t *known_items(const json_t *schema, const json_t *list)
{
    json_t *known = json_array(), *item;
    size_t i;
    json_array_foreach (list, i, item)
        json_array_append_new(known, known_fields(schema, item));
    return known;
}

static json_t *known_members(const json_t *schema, json_t *object)
{
    const json_t *properties = json_object_get(schema, "properties"),
                 *others = json_object_get(schema, "additionalProperties");
    json_t *known = json_object(), *value;
    const char *key;
    json_object_foreach (object, key, value) {
        const json_t *of_key = json_object_get(properties, key);
        if (of_key || json_is_object(others) || json_is_true(others))
            json_object_set_new(known, key, known_fields(of_key ? of_key : others, value));
    }
    return known;
}

json_t *known_fields(const json_t *schema, json_t *value)
{
    if (!json_is_object(schema) || json_bool(schema, "x-kubernetes-preserve-unknown-fields", false))
        return json_incref(value);
    if (json_is_array(value))
        return known_items(json_object_get(schema, "items"), value);
    return json_is_object(value) ? known_members(schema, value) : json_incref(value);
}
