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
/* A hash under the seed of this process (base/hash.h): equal trees have equal hashes, whatever the
 * order of members. */
uint64_t json_hash(const json_t *value);
/* The share of a member in the hash of its object, of which the shares are added up. */
uint64_t json_hash_member(const char *key, const json_t *value);
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

/* Runs the statement after it for each item of a list, with its index: other values have no items.
 * `list` is evaluated once; `break` and `continue` work as in any loop. */
#define JSON_EACH_AT(i, item, list)                                                                \
    for (json_t * item, *item##_of = (json_t *) (list); item##_of; item##_of = NULL)               \
        for (size_t i = 0; (item = json_array_get(item##_of, i)); i++)
/* The same without an index: JSON_EACH (pod, pods) count(pod); */
#define JSON_EACH(item, list) JSON_EACH_AT (item##_at, item, list)
/* The same for each member of an object, in insertion order. It must not be removed meanwhile. */
#define JSON_EACH_MEMBER(key, value, object)                                                       \
    for (json_t * value, *value##_of = (json_t *) (object); value##_of; value##_of = NULL)         \
        for (const char *key = json_object_iter_key(json_object_iter(value##_of));                 \
             key && (value = json_object_iter_value(json_object_key_to_iter(key)));                \
             key = json_object_iter_key(                                                           \
                 json_object_iter_next(value##_of, json_object_key_to_iter(key))))

#endif
