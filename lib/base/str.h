/* Strings: comparing, bounded copies, and the strict parsers of numbers and durations that people write. */
#ifndef OSTLER_BASE_STR_H
#define OSTLER_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Equal; NULL equals only NULL. */
bool str_eq(const char *a, const char *b);
/* Whether it begins so; neither may be NULL. */
bool str_has_prefix(const char *s, const char *prefix);
/* Whether it ends so; neither may be NULL. */
bool str_has_suffix(const char *s, const char *suffix);
/* Whether an argument of a command line is the option of that name; *ret_value is then what stands behind its "=", or NULL. */
bool str_is_option(const char *arg, const char *name, const char **ret_value);
/* NULL as "". */
const char *str_or_empty(const char *s);
/* The first character of a text, and its bytes; 0 with 1 byte where it is no UTF-8, or the end. */
uint32_t str_utf8_first(const char *s, size_t *ret_bytes);
/* Length of the longest prefix of `s` with at most `max` bytes that does not cut a UTF-8 character. */
size_t str_utf8_cut(const char *s, size_t max);
/* A copy of at most `max` bytes, cut at a character and ended with "…" when something was left out (and that much fits).
 * Owned by the caller. */
char *str_shortened(const char *s, size_t max);
/* A whole decimal integer within [min, max], nothing else in the string. */
bool str_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret);
/* A duration as Go writes it ("30m", "1h30m", "0s", "1.5h", "250ms"), in milliseconds; negative ones are refused. */
bool str_parse_duration(const char *s, int64_t *ret_ms);
/* FNV-1a, 64 bits: the same in every process, for short names and comparisons. Not for secrets, nor for tables (base/hash.h). */
uint64_t str_hash(const void *bytes, size_t n);

#endif
