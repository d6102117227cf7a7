/* An input that is two JSON texts, divided by a zero byte. */
#ifndef OSTLER_TESTS_FUZZ_TWO_TEXTS_H
#define OSTLER_TESTS_FUZZ_TWO_TEXTS_H

#include <stdint.h>
#include <string.h>

#include "base/json.h"

/* Reads both; NULL for what is none. New references. */
static inline void two_texts(const uint8_t *data, size_t size, json_t **ret_first,
                             json_t **ret_second)
{
    const char *text = (const char *) data;
    size_t len = strnlen(text, size), rest = size - len;
    *ret_first = json_parse(text, len, NULL);
    *ret_second = rest > 1 ? json_parse(text + len + 1, rest - 1, NULL) : NULL;
}

#endif
