#include "sim/api/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/state.h"

enum {
    /* the object, its spec, metadata and status, their members, and entries of managedFields */
    KEPT_LEVELS = 4,
    KEPT_MIN = 100, /* bytes: shorter ones are written as soon as found */
};

/* Room at the end. The content of the store bounds it; without room the program aborts, as without
 * memory. */
static char *room(struct buf *out, size_t n)
{
    char *bytes = buf_grow(out, n);
    if (!bytes)
        abort();
    return bytes;
}

static void text_add_now(struct buf *out, const char *bytes, size_t n)
{
    memcpy(room(out, n), bytes, n);
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

/* How many bytes stand for themselves. */
static size_t plain_run(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (unsigned char) s[i] >= ' ' && s[i] != '"' && s[i] != '\\')
        i++;
    return i;
}

static void add_string(struct buf *out, const char *s, size_t n)
{
    size_t plain = plain_run(s, n);
    if (plain == n) { /* nearly all */
        char *to = room(out, n + 2);
        to[0] = to[n + 1] = '"';
        memcpy(to + 1, s, n);
        return;
    }
    text_add_now(out, "\"", 1);
    for (size_t i = 0; i < n; plain = plain_run(s + i, n - i)) {
        text_add_now(out, s + i, plain);
        i += plain;
        if (i < n)
            add_escaped(out, (unsigned char) s[i++]);
    }
    text_add_now(out, "\"", 1);
}

/* The output, and the api whose kept texts are used (NULL: none). */
struct writer {
    struct buf *out;
    struct api *api;
};

static void write_value(const struct writer *w, json_t *value, int keep);

static void write_list(const struct writer *w, json_t *list, int keep)
{
    text_add_now(w->out, "[", 1);
    JSON_EACH_AT (i, item, list) {
        if (i)
            text_add_now(w->out, ",", 1);
        write_value(w, item, keep);
    }
    text_add_now(w->out, "]", 1);
}

/* Without the members that `without` (ended by NULL) names. */
static void write_map(const struct writer *w, json_t *map, const char *const *without, int keep)
{
    bool first = true;
    text_add_now(w->out, "{", 1);
    JSON_EACH_MEMBER (key, value, map) {
        if (str_is_any_of(key, without))
            continue;
        if (!first)
            text_add_now(w->out, ",", 1);
        first = false;
        add_string(w->out, key, strlen(key));
        text_add_now(w->out, ":", 1);
        write_value(w, value, keep);
    }
    text_add_now(w->out, "}", 1);
}

static void write_container(const struct writer *w, json_t *value, int keep)
{
    static const char *const nothing[] = { NULL };
    if (json_is_array(value))
        write_list(w, value, keep);
    else
        write_map(w, value, nothing, keep);
}

static struct api_text *text_of_now(struct api *api, const json_t *value)
{
    uint64_t place = (uint64_t) (uintptr_t) value * UINT64_C(0x9e3779b97f4a7c15);
    return &api->texts[place >> 32 & (API_TEXTS - 1)];
}

/* Writes a value of the store, which never changes. A kept text holds a reference, so no other
 * value can have its address. */
static void write_kept(const struct writer *w, json_t *value, int keep)
{
    struct api_text *t = text_of_now(w->api, value);
    if (t->value == value) {
        text_add_now(w->out, t->bytes, t->len);
        return;
    }
    size_t from = w->out->len;
    write_container(w, value, keep - 1);
    size_t len = w->out->len - from;
    if (len < KEPT_MIN)
        return;
    json_decref(t->value);
    t->value = json_incref(value);
    t->bytes = xreallocarray(t->bytes, len, 1);
    t->len = len;
    memcpy(t->bytes, w->out->data + from, len);
}

/* `keep`: the texts of containers are kept for so many levels. */
static void write_value(const struct writer *w, json_t *value, int keep)
{
    char scalar[64];
    if (json_is_string(value))
        add_string(w->out, json_string_value(value), json_string_length(value));
    else if (!json_is_object(value) && !json_is_array(value))
        text_add_now(w->out, scalar, json_dumpb(value, scalar, sizeof scalar, JSON_ENCODE_ANY));
    else if (keep > 0)
        write_kept(w, value, keep);
    else
        write_container(w, value, 0);
}

void text_add(struct buf *out, const json_t *value)
{
    write_value(&(struct writer){ .out = out }, (json_t *) value, 0);
}

size_t text_size(const json_t *value)
{
    enum { PUNCTUATION = 4, SCALAR = 8 };
    size_t size = 0;
    if (json_is_string(value))
        return json_string_length(value) + PUNCTUATION;
    if (json_is_array(value)) {
        JSON_EACH_AT (i, child, value)
            size += text_size(child);
    } else if (json_is_object(value)) {
        JSON_EACH_MEMBER (key, child, value)
            size += strlen(key) + PUNCTUATION + text_size(child);
    }
    return size + SCALAR;
}

void text_add_stored(struct api *api, struct buf *out, json_t *object)
{
    write_value(&(struct writer){ .out = out, .api = api }, object, KEPT_LEVELS);
}

void text_add_item(struct api *api, struct buf *out, const struct kind *k, json_t *object)
{
    static const char *const all[] = { NULL }, *const builtin[] = { "apiVersion", "kind", NULL };
    write_map(&(struct writer){ .out = out, .api = api }, object,
              k->flags & KIND_CUSTOM ? all : builtin, KEPT_LEVELS - 1);
}
