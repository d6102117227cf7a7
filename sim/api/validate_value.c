#include "sim/api/validate_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

enum { PORT_MAX = 65535 };

void validate_not_negative(const json_t *object, const char *key, const struct spot *at,
                           struct refusal *r)
{
    const json_t *value = json_object_get(object, key);
    struct spot here = SPOT(at, key);
    if (json_is_integer(value) && json_integer_value(value) < 0)
        spot_invalid(r, &here, value, "must be greater than or equal to 0");
}

void validate_none_negative(const json_t *object, const char *const *keys, const struct spot *at,
                            struct refusal *r)
{
    for (; *keys; keys++)
        validate_not_negative(object, *keys, at, r);
}

void validate_port(const json_t *number, const struct spot *at, struct refusal *r)
{
    if (json_is_integer(number) &&
        (json_integer_value(number) < 1 || json_integer_value(number) > PORT_MAX))
        spot_invalid(r, at, number, "must be between 1 and %d, inclusive", PORT_MAX);
}

void validate_word(const json_t *object, const char *key, const char *const *words,
                   const struct spot *at, struct refusal *r)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return;
    for (size_t i = 0; words[i]; i++)
        if (str_eq(words[i], json_string_value(value)))
            return;
    struct spot here = SPOT(at, key);
    spot_not_supported(r, &here, value, words);
}

void validate_amount(const json_t *value, const struct spot *at, struct refusal *r)
{
    if (json_is_integer(value) && json_integer_value(value) < 0)
        spot_invalid(r, at, value, "must be greater than or equal to 0");
    if (!json_is_string(value))
        return;
    const char *text = json_string_value(value);
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || !str_eq(text + digits, "%"))
        spot_invalid(r, at, value,
                     "a valid percent string must be a numeric string followed by an ending '%%' "
                     "(e.g. '1%%',  or '93%%', regex used for "
                     "validation is '[0-9]+%%')");
    else if (digits > 3 || atoi(text) > 100)
        spot_invalid(r, at, value, "must not be greater than 100%%");
}

void validate_immutable(const json_t *before, const json_t *after, const char *key,
                        const struct spot *at, struct refusal *r)
{
    const json_t *was = json_object_get(before, key), *is = json_object_get(after, key);
    struct spot here = SPOT(at, key);
    if (was != is && !json_equal(was, is))
        spot_invalid(r, &here, is, "field is immutable");
}

bool validate_first(json_t *seen, const char *text)
{
    if (json_object_get(seen, text))
        return false;
    json_object_set_new(seen, text, json_true());
    return true;
}

bool validate_first_value(json_t *seen, const json_t *value)
{
    CLEANUP_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    return validate_first(seen, text);
}

bool validate_is_nothing(const json_t *amount)
{
    if (!json_is_string(amount))
        return !amount || json_integer_value(amount) == 0;
    const char *text = json_string_value(amount);
    size_t digits = strspn(text, "0123456789");
    return digits == 0 || !str_eq(text + digits, "%") || strspn(text, "0") == digits;
}
