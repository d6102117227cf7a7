#include "base/json.h"

#include <string.h>

#include "base/hash.h"
#include "base/json_plain.h"
#include "base/str.h"

#define JSON_INT_MAX ((INT64_C(1) << 53) - 1)

json_t *json_at(const json_t *root, const char *path)
{
    const json_t *node = root;
    while (node && *path) {
        size_t n = strcspn(path, ".");
        node = json_object_getn(node, path, n);
        path += n + (path[n] == '.');
    }
    return (json_t *) node;
}

const char *json_str(const json_t *root, const char *path)
{
    return json_string_value(json_at(root, path));
}

const char *json_str_or_empty(const json_t *root, const char *path)
{
    const char *s = json_str(root, path);
    return s ? s : "";
}

int64_t json_int(const json_t *root, const char *path, int64_t fallback)
{
    const json_t *v = json_at(root, path);
    if (!json_is_integer(v))
        return fallback;
    int64_t n = json_integer_value(v);
    return n > JSON_INT_MAX ? JSON_INT_MAX : n < -JSON_INT_MAX ? -JSON_INT_MAX : n;
}

bool json_bool(const json_t *root, const char *path, bool fallback)
{
    const json_t *v = json_at(root, path);
    return json_is_boolean(v) ? json_boolean_value(v) : fallback;
}

const char *json_key(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

json_t *json_find(const json_t *list, const char *path, const char *text)
{
    JSON_EACH (item, list)
        if (str_eq(json_str(item, path), text))
            return item;
    return NULL;
}

bool json_has_text(const json_t *list, const char *text)
{
    JSON_EACH (item, list)
        if (str_eq(json_string_value(item), text))
            return true;
    return false;
}

void json_set_at(json_t *root, const char *path, json_t *value_steal)
{
    if (!json_is_object(root)) {
        json_decref(value_steal);
        return;
    }
    const char *dot;
    while ((dot = strchr(path, '.'))) {
        CLEANUP_FREE char *key = xstrndup(path, (size_t) (dot - path));
        json_t *child = json_object_get(root, key);
        if (!json_is_object(child)) {
            child = json_object();
            json_object_set_new(root, key, child);
        }
        root = child;
        path = dot + 1;
    }
    json_object_set_new(root, path, value_steal);
}

void json_merge(json_t *base, const json_t *over)
{
    /* a copy: a later merge must not change `over` */
    CLEANUP_JSON json_t *copy = json_deep_copy(over);
    json_object_update_recursive(base, copy);
}

json_t *json_text(const char *s)
{
    json_t *v = json_string(s);
    if (v)
        return v;
    CLEANUP_FREE char *clean = xstrdup(s);
    for (char *p = clean; *p; p++)
        if ((unsigned char) *p >= 0x80)
            *p = '?';
    return json_string(clean);
}

json_t *json_textf(const char *fmt, ...)
{
    CLEANUP_FREE char *s = FORMATTED(fmt);
    return json_text(s);
}

char *json_canonical(const json_t *root)
{
    return json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

static uint64_t hash_of_two(uint64_t a, uint64_t b)
{
    const uint64_t both[] = { a, b };
    return hash_bytes(both, sizeof both);
}

uint64_t json_hash_member(const char *key, const json_t *value)
{
    return hash_of_two(hash_bytes(key, strlen(key)), json_hash(value));
}

uint64_t json_hash(const json_t *value)
{
    double real = json_real_value(value);
    uint64_t hash = value ? json_typeof(value) : JSON_NULL, bits;
    memcpy(&bits, &real, sizeof bits);
    if (json_is_string(value))
        bits = hash_bytes(json_string_value(value), json_string_length(value));
    else if (json_is_integer(value))
        bits = (uint64_t) json_integer_value(value);
    hash = hash_of_two(hash, bits);
    JSON_EACH (item, value)
        hash = hash_of_two(hash, json_hash(item));
    JSON_EACH_MEMBER (key, member, value)
        hash += json_hash_member(key, member);
    return hash;
}

char *json_compact(const json_t *root)
{
    char *text = json_plain_write(root);
    return text ? text : json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* A copy of JSON text with U+FFFD for each escaped NUL. Owned by the caller. */
static char *without_nuls(const char *text, size_t len)
{
    static const char nul[] = "\\u0000", replacement[] = "\\ufffd";
    char *copy = xcalloc(len, 1);
    memcpy(copy, text, len);
    for (size_t i = 0; i < len; i++) {
        if (copy[i] != '\\')
            continue;
        if (len - i >= sizeof nul - 1 && memcmp(copy + i, nul, sizeof nul - 1) == 0)
            memcpy(copy + i, replacement, sizeof replacement - 1);
        i++; /* an escaped character starts no escape */
    }
    return copy;
}

/* The API server checks the keys of labels and annotations, but not those of a node's resources
 * or a volume's attributes. If such an object were unreadable, one kubelet could blind Ostler to
 * all nodes. Two keys may become one; Ostler reads neither. */
static json_t *parse_without_nuls(const char *text, size_t len, json_error_t *error)
{
    CLEANUP_FREE char *copy = without_nuls(text, len);
    return json_loadb(copy, len, JSON_DECODE_ANY, error);
}

static json_t *json_parse_now(const char *text, size_t len, size_t flags, struct err *e)
{
    json_error_t error;
    json_t *root = json_plain(text, len);
    if (root)
        return root;
    root = json_loadb(text, len, flags | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!root && json_error_code(&error) == json_error_null_byte_in_key)
        root = parse_without_nuls(text, len, &error);
    if (!root)
        err_set(e, ERR_INVALID, "not JSON: %s (line %d, column %d)", error.text, error.line,
                error.column);
    return root;
}

json_t *json_parse(const char *text, size_t len, struct err *e)
{
    return json_parse_now(text, len, JSON_REJECT_DUPLICATES, e);
}

json_t *json_parse_stored(const char *text, size_t len, struct err *e)
{
    return json_parse_now(text, len, 0, e);
}

bool json_is_whole(const json_t *string)
{
    return strlen(json_string_value(string)) == json_string_length(string);
}

void json_cleanup(json_t **node)
{
    json_decref(*node);
}
