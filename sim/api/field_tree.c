/* Between an object and a set of its fields. */
#include "sim/api/field_set.h"

#include <string.h>

#include "base/json.h"
#include "sim/api/field_element.h"

static void put_field(const struct merge_type *t, const char *name, const json_t *value,
                      json_t **set)
{
    const struct merge_type *f = merge_type_field(t, name);
    if (f->how == MERGE_UNOWNED)
        return;
    json_t *child = field_tree_set(f, value);
    bool is_empty = json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0);
    if (is_empty || t->how != MERGE_FIELDS)
        field_set_mark(&child);
    CLEANUP_FREE char *element = field_element_of_key(name);
    field_set_put(set, element, child);
}

/* Items that occur more than once are owned together, as a whole. */
static void put_items(const struct merge_type *t, const json_t *list, json_t **set)
{
    const struct merge_type item = merge_type_item(t);
    CLEANUP_ITEMS struct field_items items = field_items_of(t, list);
    for (size_t i = 0; i < items.len; i++) {
        const char *element = items.elements[i];
        if (!element || field_items_find(&items, element, 0) != i)
            continue;
        bool alone = field_items_find(&items, element, i + 1) == items.len;
        json_t *child = alone ? field_tree_set(&item, json_array_get(list, i)) : NULL;
        field_set_mark(&child);
        field_set_put(set, element, child);
    }
}

json_t *field_tree_set(const struct merge_type *t, const json_t *object)
{
    json_t *set = NULL;
    if (merge_type_is_leaf(t, object)) {
        field_set_mark(&set);
    } else if (json_is_array(object)) {
        put_items(t, object, &set);
    } else {
        JSON_EACH_MEMBER (name, value, object)
            put_field(t, name, value, &set);
    }
    return set;
}

/* The type of the value at a path element. */
static struct merge_type type_below(const struct merge_type *t, const char *element)
{
    return strncmp(element, "f:", 2) == 0 ? *merge_type_field(t, element + 2) : merge_type_item(t);
}

json_t *field_tree_named(const struct merge_type *t, const json_t *set)
{
    json_t *named = NULL;
    JSON_EACH_MEMBER (element, child, set) {
        if (strcmp(element, ".") == 0)
            continue;
        const struct merge_type below = type_below(t, element);
        json_t *copy = field_tree_named(&below, child);
        if (t->how == MERGE_FIELDS && strncmp(element, "f:", 2) == 0)
            field_set_mark(&copy);
        field_set_put(&named, element, copy);
    }
    if (set && field_set_is_member(set))
        field_set_mark(&named);
    return named;
}

/* The rest of a child: itself, a part, or NULL. New reference. */
static json_t *left_of(const struct merge_type *t, json_t *value, const json_t *below)
{
    if (!below)
        return json_incref(value);
    if (field_set_is_member(below))
        return NULL;
    return field_tree_remove(t, value, below);
}

static json_t *remove_items(const struct merge_type *t, const json_t *list, const json_t *set)
{
    const struct merge_type item = merge_type_item(t);
    json_t *left = json_array();
    JSON_EACH_AT (i, value, list) {
        CLEANUP_FREE char *element = field_element_of_item(t, value);
        json_t *rest = left_of(&item, value, element ? json_object_get(set, element) : NULL);
        if (rest)
            json_array_append_new(left, rest);
    }
    return left;
}

static json_t *remove_fields(const struct merge_type *t, const json_t *object, const json_t *set)
{
    json_t *left = json_copy((json_t *) object);
    JSON_EACH_MEMBER (element, below, set) {
        json_t *value = strncmp(element, "f:", 2) == 0 ? json_object_get(object, element + 2)
                                                       : NULL;
        if (!value)
            continue;
        json_t *rest = left_of(merge_type_field(t, element + 2), value, below);
        if (rest)
            json_object_set_new(left, element + 2, rest);
        else
            json_object_del(left, element + 2);
    }
    return left;
}

json_t *field_tree_remove(const struct merge_type *t, const json_t *object, const json_t *set)
{
    if (!set || !(json_is_object(object) || json_is_array(object)))
        return json_incref((json_t *) object);
    if (merge_type_is_leaf(t, object))
        return NULL;
    json_t *left = json_is_array(object) ? remove_items(t, object, set)
                                         : remove_fields(t, object, set);
    if (json_array_size(left) == 0 && json_object_size(left) == 0)
        json_decref(TAKE(left));
    return left;
}
