#include "sim/api/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/state.h"

/* Bytes that are bounded by what the store has; no room for them is the end of the program, as with all memory. */
static void add(struct buf *out, const char *bytes, size_t n)
{
    if (!buf_add(out, bytes, n))
        abort();
}

static void add_escaped(struct buf *out, unsigned char c)
{
    static const char names[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    const char *name = memchr(names, c, sizeof names - 1);
    if (name)
        buf_printf(out, "\\%c", letters[name - names]);
    else
        buf_printf(out, "\\u%04x", c);
}

static void add_string(struct buf *out, const char *s, size_t n)
{
    add(out, "\"", 1);
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char) s[i];
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        add(out, s + from, i - from);
        add_escaped(out, c);
        from = i + 1;
    }
    add(out, s + from, n - from);
    add(out, "\"", 1);
}

static void add_list(struct buf *out, const json_t *list)
{
    size_t i;
    json_t *item;
    add(out, "[", 1);
    json_array_foreach ((json_t *) list, i, item) {
        if (i)
            add(out, ",", 1);
        text_add(out, item);
    }
    add(out, "]", 1);
}

static void add_member(struct buf *out, bool first, const char *key, const json_t *value)
{
    if (!first)
        add(out, ",", 1);
    add_string(out, key, strlen(key));
    add(out, ":", 1);
    text_add(out, value);
}

static void add_map(struct buf *out, const json_t *map)
{
    const char *key;
    json_t *value;
    bool first = true;
    add(out, "{", 1);
    json_object_foreach ((json_t *) map, key, value) {
        add_member(out, first, key, value);
        first = false;
    }
    add(out, "}", 1);
}

static void add_real(struct buf *out, const json_t *value)
{
    char text[64];
    add(out, text, json_dumpb(value, text, sizeof text, JSON_ENCODE_ANY));
}

/* jansson's own writer asks for many small pieces; objects are written often, so this one is several times as fast. */
void text_add(struct buf *out, const json_t *value)
{
    char number[24];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        add_map(out, value);
        return;
    case JSON_ARRAY:
        add_list(out, value);
        return;
    case JSON_STRING:
        add_string(out, json_string_value(value), json_string_length(value));
        return;
    case JSON_INTEGER:
        add(out, number, (size_t) snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value)));
        return;
    case JSON_REAL:
        add_real(out, value);
        return;
    case JSON_TRUE:
        add(out, "true", 4);
        return;
    case JSON_FALSE:
        add(out, "false", 5);
        return;
    case JSON_NULL:
        add(out, "null", 4);
        return;
    }
}

size_t text_size(const json_t *value)
{
    enum { PUNCTUATION = 4, SCALAR = 8 };
    size_t size = 0, i;
    const char *key;
    json_t *child;
    if (json_is_string(value))
        return json_string_length(value) + PUNCTUATION;
    if (json_is_array(value)) {
        json_array_foreach ((json_t *) value, i, child)
            size += text_size(child);
    } else if (json_is_object(value)) {
        json_object_foreach ((json_t *) value, key, child)
            size += strlen(key) + PUNCTUATION + text_size(child);
    }
    return size + SCALAR;
}

void text_add_stored(struct api *api, struct buf *out, json_t *object)
{
    struct api_text *t = &api->texts[object_rv(object) % API_TEXTS];
    if (t->object == object) {
        add(out, t->bytes, t->len);
        return;
    }
    size_t from = out->len;
    text_add(out, object);
    json_decref(t->object);
    free(t->bytes);
    *t = (struct api_text){ .object = json_incref(object), .len = out->len - from };
    t->bytes = xcalloc(1, t->len);
    memcpy(t->bytes, out->data + from, t->len);
}

void text_add_item(struct buf *out, const struct kind *k, const json_t *object)
{
    if (k->flags & KIND_CUSTOM) {
        text_add(out, object);
        return;
    }
    const char *key;
    json_t *value;
    bool first = true;
    add(out, "{", 1);
    json_object_foreach ((json_t *) object, key, value) {
        if (str_eq(key, "apiVersion") || str_eq(key, "kind"))
            continue;
        add_member(out, first, key, value);
        first = false;
    }
    add(out, "}", 1);
}
