/* Reading and building JSON with jansson: paths, typed getters with defaults, canonical text.
 * Getters take any node, NULL included, so that chains need no checks: absent and of the wrong type are the same. */
#ifndef OSTLER_BASE_JSON_H
#define OSTLER_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CLEANUP_JSON CLEANUP(json_cleanup)

/* The value at a path of object keys: json_at(o, "spec.driver.version"); NULL when absent. Keys that hold a dot (labels)
 * cannot be written so: get their map, then json_object_get(). Borrowed. */
json_t *json_at(const json_t *root, const char *path);
/* The string at a path, or NULL. Borrowed from the tree. */
const char *json_str(const json_t *root, const char *path);
/* The string at a path, or "" when absent. */
const char *json_str_or_empty(const json_t *root, const char *path);
/* The whole number at a path, or `fallback`. One beyond ±(2^53 - 1), all that JSON may be trusted with (RFC 7493, 2.2), is the
 * nearest within: a sum of some, or seconds as milliseconds, does not overflow whatever a stranger wrote. */
int64_t json_int(const json_t *root, const char *path, int64_t fallback);
/* The truth value at a path, or `fallback`. */
bool json_bool(const json_t *root, const char *path, bool fallback);
/* The string under one key that may hold dots, or NULL: json_key(labels, "ostler.dev/driver"). */
const char *json_key(const json_t *object, const char *key);
/* The first item of a list that has this text at a path, as lists of named things have them; NULL: none has. Borrowed. */
json_t *json_find(const json_t *list, const char *path, const char *text);
/* Whether a list of texts has this one. */
bool json_has_text(const json_t *list, const char *text);
/* Sets the value at a path, makes the objects on the way; does nothing when `root` is no object. Steals `value`. */
void json_set_at(json_t *root, const char *path, json_t *value_steal);
/* Recursive: objects are merged key by key, everything else in `over` replaces, as a copy. */
void json_merge(json_t *base, const json_t *over);
/* A string value; invalid UTF-8 is replaced by "?" (a label of an object is never that, a log line may be). */
json_t *json_text(const char *s);
/* The same of a text that is put together. */
json_t *json_textf(const char *fmt, ...) PRINTF(1, 2);
/* Compact with sorted keys: equal trees give equal text. Owned by the caller. */
char *json_canonical(const json_t *root);
/* Compact in insertion order, as bodies are sent: raw UTF-8, no escapes that the API server's YAML reader would not know. */
char *json_compact(const json_t *root);
/* Parses one document; a trailing byte, a duplicate key and depth beyond jansson's limit are errors. A NUL that was escaped
 * is kept in a text, which C sees up to there: json_is_whole() tells. In a key it becomes U+FFFD, since jansson has no keys
 * with one. */
json_t *json_parse(const char *text, size_t len, struct err *e);
/* As json_parse(), of an object that an API server stores; of a key that is there twice the last counts. A kubelet may name a
 * resource with bytes that are no UTF-8. The server writes each of them as U+FFFD, so that two names become one key. */
json_t *json_parse_stored(const char *text, size_t len, struct err *e);
/* Whether a text has no NUL in it, so that its bytes up to the end of a C string are all of it. */
bool json_is_whole(const json_t *string);
/* For CLEANUP_JSON. */
void json_cleanup(json_t **node);

#endif
