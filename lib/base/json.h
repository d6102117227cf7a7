/* Reading and building JSON with jansson: paths, typed getters with defaults, canonical text.
 * Getters accept any node, including NULL, so that chains need no checks. A member of the wrong
 * type counts as absent. */
#ifndef OSTLER_BASE_JSON_H
#define OSTLER_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CLEANUP_JSON CLEANUP(json_cleanup)

/* The value at a path of object keys: json_at(o, "spec.driver.version"); NULL if absent. A key
 * with a dot (a label) is not possible here: get its object, then json_object_get(). Borrowed. */
json_t *json_at(const json_t *root, const char *path);
/* The string at a path, or NULL. Borrowed from the tree. */
const char *json_str(const json_t *root, const char *path);
/* The string at a path, or "" if absent. */
const char *json_str_or_empty(const json_t *root, const char *path);
/* The integer at a path, or `fallback`. A value beyond ±(2^53 - 1), the range that JSON
 * guarantees (RFC 7493, 2.2), becomes the nearest one within. So sums, or seconds as
 * milliseconds, cannot overflow on hostile input. */
int64_t json_int(const json_t *root, const char *path, int64_t fallback);
/* The boolean at a path, or `fallback`. */
bool json_bool(const json_t *root, const char *path, bool fallback);
/* The string under one key, which may contain dots, or NULL: json_key(labels,
 * "ostler.dev/driver"). */
const char *json_key(const json_t *object, const char *key);
/* The first item of a list with this text at a path, or NULL. Borrowed. */
json_t *json_find(const json_t *list, const char *path, const char *text);
/* Whether a list of strings has this one. */
bool json_has_text(const json_t *list, const char *text);
/* Sets the value at a path and creates missing objects; no effect if `root` is no object. Steals
 * `value`. */
void json_set_at(json_t *root, const char *path, json_t *value_steal);
/* Merges objects recursively, key by key; a copy of any other value in `over` replaces the old
 * one. */
void json_merge(json_t *base, const json_t *over);
/* A string value; invalid UTF-8 becomes "?" (a log line may have some, a label never). */
json_t *json_text(const char *s);
/* The same for a formatted text. */
json_t *json_textf(const char *fmt, ...) PRINTF(1, 2);
/* Compact with sorted keys: equal trees give equal text. Owned by the caller. */
char *json_canonical(const json_t *root);
/* Compact in insertion order, for request bodies: raw UTF-8, without escapes that the API
 * server's YAML parser does not know. */
char *json_compact(const json_t *root);
/* Parses one document. A trailing byte, a duplicate key and depth beyond jansson's limit are
 * errors. A string keeps an escaped NUL, but C code sees only the text before it: check with
 * json_is_whole(). In a key it becomes U+FFFD, since jansson has no keys with NUL. */
json_t *json_parse(const char *text, size_t len, struct err *e);
/* As json_parse(), for an object that an API server stores; the last of duplicate keys counts. A
 * kubelet may name a resource with bytes that are not UTF-8. The server writes each such byte as
 * U+FFFD, so that two names become one key. */
json_t *json_parse_stored(const char *text, size_t len, struct err *e);
/* Whether a string contains no NUL, so that the C string is the whole of it. */
bool json_is_whole(const json_t *string);
/* For CLEANUP_JSON. */
void json_cleanup(json_t **node);

/* Runs the statement after it for each item of a list: JSON_EACH (pod, pods) count(pod);
 * `break` and `continue` work as in any loop. */
#define JSON_EACH(item, list)                                                                      \
    for (struct json_walk item##_walk = { .root = (json_t *) (list) };                             \
         json_walk_has_item(&item##_walk);)                                                        \
        for (json_t *item = json_walk_item(&item##_walk); item; item = json_walk_on(&item##_walk))
/* The same for each member of an object, in insertion order. */
#define JSON_EACH_MEMBER(key, value, object)                                                       \
    for (struct json_walk key##_walk = json_walk_members(object);                                  \
         key##_walk.member && !key##_walk.inside;)                                                 \
        for (const char *key = json_object_iter_key(key##_walk.member); key; key = NULL)           \
            for (json_t *value = json_walk_value(&key##_walk); value;                              \
                 value = json_walk_on(&key##_walk))

/* The place of a walk. `inside` is true while the statement runs, and after its `break`. */
struct json_walk {
    json_t *root;
    size_t at;
    void *member;
    bool inside;
};

static inline bool json_walk_has_item(const struct json_walk *w)
{
    return !w->inside && w->at < json_array_size(w->root);
}

static inline json_t *json_walk_item(struct json_walk *w)
{
    w->inside = true;
    return json_array_get(w->root, w->at);
}

static inline struct json_walk json_walk_members(const json_t *object)
{
    return (struct json_walk){ .root = (json_t *) object,
                               .member = json_object_iter((json_t *) object) };
}

static inline json_t *json_walk_value(struct json_walk *w)
{
    w->inside = true;
    return json_object_iter_value(w->member);
}

/* The statement has ended: the outer loop goes on. */
static inline json_t *json_walk_on(struct json_walk *w)
{
    w->inside = false;
    w->at++;
    if (w->member)
        w->member = json_object_iter_next(w->root, w->member);
    return NULL;
}

#endif
