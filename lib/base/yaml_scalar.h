/* What a plain YAML scalar means, by the rules of the reader that kubectl uses: YAML 1.1 as go-yaml v2 reads it ("y" and
 * "off" are booleans, "010" is 8, "1:30" and dates are strings). */
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
    YAML_SCALAR_NO_JSON, /* a number that JSON or 64 bits cannot hold: .nan, .inf, integers from 2^63 to 2^64 - 1 */
};

/* The member of the kind is set; a string is the text itself. */
struct yaml_scalar {
    enum yaml_scalar_kind kind;
    bool boolean;
    int64_t integer;
    double real;
};

/* Floats without a fraction that fit 64 bits come out as INT, as they do from kubectl. */
struct yaml_scalar yaml_scalar_of(const char *text);
/* Whether a string has to be quoted for readers to see a string: also what other YAML readers take for dates and base-60. */
bool yaml_scalar_needs_quotes(const char *text);

#endif
