#include "sim/api/field_element.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

/* A key is a few short values; this bounds one that a client made up. */
enum { ELEMENT_MAX = 4 << 20 };

char *field_element_of_key(const char *name)
{
    size_t len = strlen(name);
    char *element = xcalloc(1, len + 3);
    memcpy(element, "f:", 2);
    memcpy(element + 2, name, len);
    return element;
}

/* Whether a string is its own JSON text. */
static bool field_element_is_plain(const char *s)
{
    while ((unsigned char) *s >= ' ' && *s != '"' && *s != '\\')
        s++;
    return *s == '\0';
}

/* Appends a value as JSON; most are plain names, which need no encoder. */
static void field_element_add_value(struct buf *b, const json_t *value)
{
    const char *s = json_string_value(value);
    if (s && field_element_is_plain(s) && strlen(s) == json_string_length(value)) {
        buf_str(b, "\"");
        buf_str(b, s);
        buf_str(b, "\"");
        return;
    }
    CLEANUP_FREE char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    buf_str(b, str_or_empty(text));
}

static char *element_of_value(const json_t *item)
{
    if (json_is_object(item) || json_is_array(item) || json_is_null(item))
        return NULL;
    struct buf b = BUF_INIT(ELEMENT_MAX);
    buf_str(&b, "v:");
    field_element_add_value(&b, item);
    return buf_take(&b);
}

char *field_element_of_item(const struct merge_type *list, const json_t *item)
{
    if (list->how == MERGE_SET)
        return element_of_value(item);
    CLEANUP_BUF struct buf b = BUF_INIT(ELEMENT_MAX);
    buf_str(&b, "k:{");
    bool any = false;
    for (const struct merge_key *k = list->keys; k->name; k++) {
        const json_t *value = json_object_get(item, k->name);
        if (!value && (!k->fallback || !json_is_object(item)))
            continue;
        buf_printf(&b, "%s\"%s\":", any ? "," : "", k->name);
        if (value)
            field_element_add_value(&b, value);
        else
            buf_printf(&b, "\"%s\"", k->fallback);
        any = true;
    }
    buf_str(&b, "}");
    return any ? buf_take(&b) : NULL;
}

/* The JSON value after the first two letters of an element. NULL: invalid. New reference. */
static json_t *field_element_value_of(const char *element)
{
    return strlen(element) < 2 ? NULL : json_parse(element + 2, strlen(element + 2), NULL);
}

static void add_keys_text(struct buf *b, const char *element)
{
    CLEANUP_JSON json_t *keys = field_element_value_of(element);
    const char *comma = "";
    buf_str(b, "[");
    JSON_EACH_MEMBER (name, value, keys) {
        CLEANUP_FREE char *text = json_compact(value);
        buf_printf(b, "%s%s=%s", comma, name, text);
        comma = ",";
    }
    buf_str(b, "]");
}

char *field_element_text(const char *element)
{
    struct buf b = BUF_INIT(ELEMENT_MAX);
    if (str_has_prefix(element, "f:"))
        buf_printf(&b, ".%s", element + 2);
    else if (str_has_prefix(element, "k:"))
        add_keys_text(&b, element);
    else if (str_has_prefix(element, "v:"))
        buf_printf(&b, "[=%s]", element + 2);
    else
        buf_printf(&b, "[%s]", str_has_prefix(element, "i:") ? element + 2 : element);
    return buf_take(&b);
}

static int rank(const char *element)
{
    const char *place = strchr("fkvi", *element);
    return place ? (int) (place - "fkvi") : 4;
}

static int compare_values(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        double difference = json_number_value(a) - json_number_value(b);
        return (difference > 0) - (difference < 0);
    }
    if (json_is_number(a) || json_is_number(b))
        return json_is_number(a) ? -1 : 1;
    if (json_is_string(a) && json_is_string(b))
        return strcmp(json_string_value(a), json_string_value(b));
    return (int) json_is_true(a) - (int) json_is_true(b);
}

/* Key by key: the name decides before the value; where all are equal, fewer come first. */
static int compare_keys(const json_t *a, const json_t *b)
{
    void *ia = json_object_iter((json_t *) a), *ib = json_object_iter((json_t *) b);
    for (; ia && ib; ia = json_object_iter_next((json_t *) a, ia),
                     ib = json_object_iter_next((json_t *) b, ib)) {
        int order = strcmp(json_object_iter_key(ia), json_object_iter_key(ib));
        if (order == 0)
            order = compare_values(json_object_iter_value(ia), json_object_iter_value(ib));
        if (order != 0)
            return order;
    }
    return (ia != NULL) - (ib != NULL);
}

int field_element_compare(const char *a, const char *b)
{
    if (rank(a) != rank(b))
        return rank(a) - rank(b);
    if (*a != 'k' && *a != 'v')
        return strcmp(a, b);
    CLEANUP_JSON json_t *va = field_element_value_of(a);
    CLEANUP_JSON json_t *vb = field_element_value_of(b);
    return *a == 'k' ? compare_keys(va, vb) : compare_values(va, vb);
}

struct field_items field_items_of(const struct merge_type *list, const json_t *items)
{
    struct field_items found = { .len = json_array_size(items) };
    found.elements = xcalloc(found.len + 1, sizeof *found.elements);
    for (size_t i = 0; i < found.len; i++)
        found.elements[i] = field_element_of_item(list, json_array_get(items, i));
    return found;
}

size_t field_items_find(const struct field_items *items, const char *element, size_t from)
{
    size_t i = from;
    while (i < items->len && !str_eq(items->elements[i], element))
        i++;
    return i;
}

void field_items_clear(struct field_items *items)
{
    for (size_t i = 0; i < items->len; i++)
        free(items->elements[i]);
    free(items->elements);
    *items = (struct field_items){ 0 };
}
