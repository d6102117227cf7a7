/* One step of a path as FieldsV1 writes it: "f:name" of a field, `k:{"name":"a"}` of a list's item
 * by its keys, `v:"a"` of a set's item. */
#ifndef OSTLER_SIM_API_FIELD_ELEMENT_H
#define OSTLER_SIM_API_FIELD_ELEMENT_H

#include <jansson.h>

#include "sim/api/merge_type.h"

/* Of a field. Owned by the caller. */
char *field_element_of_key(const char *name);
/* Of an item of a list that merges by value or by keys; NULL when it has none of the keys. Owned by
 * the caller. */
char *field_element_of_item(const struct merge_type *list, const json_t *item);
/* As people read it: `.name`, `[name="a"]`, `[="a"]`. Owned by the caller. */
char *field_element_text(const char *element);
/* The order of the API server: fields, then items by keys, then items by value; numbers by size.
 * <0, 0, >0. */
int field_element_compare(const char *a, const char *b);

/* The path elements of all items of a list. */
struct field_items {
    char **elements; /* NULL for an item that has none */
    size_t len;
};
/* Of these items, in order; field_items_clear() when done. */
struct field_items field_items_of(const struct merge_type *list, const json_t *items);
/* The place of the first item with this element, from `from` on; `len` if there is none. */
size_t field_items_find(const struct field_items *items, const char *element, size_t from);
/* Frees the elements. */
void field_items_clear(struct field_items *items);
#define CLEANUP_ITEMS CLEANUP(field_items_clear)

#endif
