/* Strings: comparison, bounded copies, and strict parsers for numbers and durations. */
#ifndef OSTLER_BASE_STR_H
#define OSTLER_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Equal; NULL equals only NULL. */
bool str_eq(const char *a, const char *b);
/* Whether `s` begins with `prefix`; neither may be NULL. */
bool str_has_prefix(const char *s, const char *prefix);
/* Whether `s` ends with `suffix`; neither may be NULL. */
bool str_has_suffix(const char *s, const char *suffix);
/* Whether a text is one of a list that NULL ends; NULL is none. */
bool str_is_any_of(const char *s, const char *const *words);
/* Whether an argument is the option with that name; *ret_value is then the text after its "=",
 * or NULL. */
bool str_is_option(const char *arg, const char *name, const char **ret_value);
/* strcmp() of two members of an array of strings, for qsort(). */
int str_compare(const void *a, const void *b);
/* The text, or "" for NULL. */
const char *str_or_empty(const char *s);
/* The first character of a text and its length in bytes; 0 with 1 byte at the end or if it is
 * not UTF-8. */
uint32_t str_utf8_first(const char *s, size_t *ret_bytes);
/* Length of the longest prefix of `s` in `max` bytes that does not cut a UTF-8 character. */
size_t str_utf8_cut(const char *s, size_t max);
/* A copy of at most `max` bytes, cut at a character and ended with "…" if it is shorter than `s`
 * (and "…" fits). Owned by the caller. */
char *str_shortened(const char *s, size_t max);
/* Parses a decimal integer within [min, max]; the string must hold nothing else. */
bool str_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret);
/* Parses a Go duration ("30m", "1h30m", "0s", "1.5h", "250ms") to milliseconds; rejects negative
 * ones. */
bool str_parse_duration(const char *s, int64_t *ret_ms);
/* FNV-1a, 64 bits: the same in every process, for short names and comparisons. Neither for
 * secrets nor for tables (base/hash.h). */
uint64_t str_hash(const void *bytes, size_t n);
/* The same of an id, such as a uid; 0 for NULL and "". */
uint64_t str_hash_id(const char *id);

#endif
