/* The type of a plain YAML scalar, by the rules of kubectl's parser: YAML 1.1 as go-yaml v2
 * reads it ("y" and "off" are booleans, "010" is 8, "1:30" and dates are strings). */
#ifndef OSTLER_BASE_YAML_SCALAR_H
#define OSTLER_BASE_YAML_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

enum yaml_scalar_kind {
    YAML_SCALAR_STRING,
    YAML_SCALAR_NULL,
    YAML_SCALAR_BOOL,
    YAML_SCALAR_INT,
    YAML_SCALAR_FLOAT,
    YAML_SCALAR_NO_JSON, /* beyond JSON or 64 bits: .nan, .inf, integers from 2^63 to 2^64 - 1 */
};

/* The member for the kind is set; a string is the text itself. */
struct yaml_scalar {
    enum yaml_scalar_kind kind;
    bool boolean;
    int64_t integer;
    double real;
};

/* A float without a fraction that fits 64 bits becomes INT, as in kubectl. */
struct yaml_scalar yaml_scalar_of(const char *text);
/* Whether a string needs quotes to be read as a string, also by YAML parsers that know dates and
 * base 60. */
bool yaml_scalar_needs_quotes(const char *text);

#endif
