/* A float in a text has fewer digits than the value: what is read again from it need not be equal.
 */
#ifndef OSTLER_TESTS_FUZZ_FLOATS_H
#define OSTLER_TESTS_FUZZ_FLOATS_H

#include <jansson.h>
#include <stdbool.h>

static inline bool has_float(json_t *value)
{
    const char *key;
    size_t i;
    json_t *child;
    bool found = json_is_real(value);
    json_object_foreach (value, key, child)
        found = found || has_float(child);
    json_array_foreach (value, i, child)
        found = found || has_float(child);
    return found;
}

#endif
