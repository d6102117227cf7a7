/* Validation of single values. */
#include "sim/api/validate.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/quantity.h"

enum { PORT_MAX = 65535 };

void validate_not_negative(const json_t *object, const char *key, const struct spot *at,
                           struct refusal *r)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value) && json_integer_value(value) < 0)
        spot_invalid(r, SPOT(at, key), value, "must be greater than or equal to 0");
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
    if (value && !str_is_any_of(json_string_value(value), words))
        spot_not_supported(r, SPOT(at, key), value, words);
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
    if (was != is && !json_equal(was, is))
        spot_invalid(r, SPOT(at, key), is, "field is immutable");
}

void validate_required(const json_t *object, const char *key, const struct spot *at,
                       struct refusal *r)
{
    if (!*json_str_or_empty(object, key))
        spot_required(r, SPOT(at, key), "");
}

void validate_required_label(const json_t *object, const char *key, const struct spot *at,
                             struct refusal *r)
{
    const char *name = json_str_or_empty(object, key);
    validate_required(object, key, at, r);
    if (*name)
        validate_dns_label(name, false, SPOT(at, key), r);
}

void validate_port_reference(const json_t *object, const char *key, const struct spot *at,
                             struct refusal *r)
{
    const json_t *port = json_object_get(object, key);
    validate_port(port, SPOT(at, key), r);
    if (json_is_string(port))
        validate_port_name(json_string_value(port), SPOT(at, key), r);
}

void validate_quantity(const json_t *amount, bool whole, const struct spot *at, struct refusal *r)
{
    struct quantity quantity;
    if (!quantity_parse(str_or_empty(json_string_value(amount)), &quantity))
        return;
    if (quantity.nano < 0)
        spot_invalid(r, at, amount, "must be greater than or equal to 0");
    if (whole && !quantity_is_whole(&quantity))
        spot_invalid(r, at, amount, "must be an integer");
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
