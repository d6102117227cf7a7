#include "base/yaml_scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const struct word {
    const char *text;
    enum yaml_scalar_kind kind;
    bool boolean;
} words[] = {
    { "", YAML_SCALAR_NULL, false },         { "~", YAML_SCALAR_NULL, false },
    { "null", YAML_SCALAR_NULL, false },     { "Null", YAML_SCALAR_NULL, false },
    { "NULL", YAML_SCALAR_NULL, false },     { "y", YAML_SCALAR_BOOL, true },
    { "Y", YAML_SCALAR_BOOL, true },         { "yes", YAML_SCALAR_BOOL, true },
    { "Yes", YAML_SCALAR_BOOL, true },       { "YES", YAML_SCALAR_BOOL, true },
    { "true", YAML_SCALAR_BOOL, true },      { "True", YAML_SCALAR_BOOL, true },
    { "TRUE", YAML_SCALAR_BOOL, true },      { "on", YAML_SCALAR_BOOL, true },
    { "On", YAML_SCALAR_BOOL, true },        { "ON", YAML_SCALAR_BOOL, true },
    { "n", YAML_SCALAR_BOOL, false },        { "N", YAML_SCALAR_BOOL, false },
    { "no", YAML_SCALAR_BOOL, false },       { "No", YAML_SCALAR_BOOL, false },
    { "NO", YAML_SCALAR_BOOL, false },       { "false", YAML_SCALAR_BOOL, false },
    { "False", YAML_SCALAR_BOOL, false },    { "FALSE", YAML_SCALAR_BOOL, false },
    { "off", YAML_SCALAR_BOOL, false },      { "Off", YAML_SCALAR_BOOL, false },
    { "OFF", YAML_SCALAR_BOOL, false },      { ".nan", YAML_SCALAR_NO_JSON, false },
    { ".NaN", YAML_SCALAR_NO_JSON, false },  { ".NAN", YAML_SCALAR_NO_JSON, false },
    { ".inf", YAML_SCALAR_NO_JSON, false },  { ".Inf", YAML_SCALAR_NO_JSON, false },
    { ".INF", YAML_SCALAR_NO_JSON, false },  { "+.inf", YAML_SCALAR_NO_JSON, false },
    { "+.Inf", YAML_SCALAR_NO_JSON, false }, { "+.INF", YAML_SCALAR_NO_JSON, false },
    { "-.inf", YAML_SCALAR_NO_JSON, false }, { "-.Inf", YAML_SCALAR_NO_JSON, false },
    { "-.INF", YAML_SCALAR_NO_JSON, false },
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* The base for a number's prefix; `ret_digits` is where the digits begin. */
static unsigned base_of(const char *s, const char **ret_digits)
{
    static const struct {
        const char *prefix;
        unsigned base;
    } prefixes[] = {
        { "0x", 16 }, { "0X", 16 }, { "0b", 2 }, { "0B", 2 }, { "0o", 8 }, { "0O", 8 }
    };
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (str_has_prefix(s, prefixes[i].prefix)) {
            *ret_digits = s + 2;
            return prefixes[i].base;
        }
    }
    bool octal = s[0] == '0' && s[1];
    *ret_digits = s + octal;
    return octal ? 8 : 10;
}

static unsigned digit_value(char c)
{
    if (is_digit(c))
        return (unsigned) (c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned) (c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned) (c - 'A') + 10;
    return 99;
}

enum magnitude { NOT_A_NUMBER, FITS, TOO_BIG };

static enum magnitude parse_magnitude(const char *s, uint64_t *ret)
{
    const char *digits;
    unsigned base = base_of(s, &digits);
    if (!*digits)
        return NOT_A_NUMBER;
    uint64_t value = 0;
    bool overflow = false;
    for (; *digits; digits++) {
        unsigned digit = digit_value(*digits);
        if (digit >= base)
            return NOT_A_NUMBER;
        overflow |= __builtin_mul_overflow(value, base, &value);
        overflow |= __builtin_add_overflow(value, digit, &value);
    }
    *ret = value;
    return overflow ? TOO_BIG : FITS;
}

static bool parse_int(const char *s, struct yaml_scalar *ret)
{
    bool negative = *s == '-';
    uint64_t magnitude;
    if (parse_magnitude(s + (*s == '-' || *s == '+'), &magnitude) != FITS)
        return false;
    if (magnitude > (uint64_t) INT64_MAX + negative) {
        /* Kubectl's parser reads a smaller integer as a float, a larger one as unsigned. */
        if (negative)
            return false;
        *ret = (struct yaml_scalar){ .kind = YAML_SCALAR_NO_JSON };
        return true;
    }
    int64_t value = (int64_t) (negative ? 0 - magnitude : magnitude);
    *ret = (struct yaml_scalar){ .kind = YAML_SCALAR_INT, .integer = value };
    return true;
}

/* [-+]? ( .D+ | D+ (.D*)? ) ( [eE] [-+]? D+ )? */
static bool looks_like_float(const char *s)
{
    s += *s == '-' || *s == '+';
    size_t whole = count_digits(s);
    s += whole;
    if (*s == '.') {
        size_t fraction = count_digits(++s);
        if (whole + fraction == 0)
            return false;
        s += fraction;
    } else if (whole == 0) {
        return false;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        size_t exponent = count_digits(s);
        if (exponent == 0)
            return false;
        s += exponent;
    }
    return *s == '\0';
}

static bool parse_float(const char *s, struct yaml_scalar *ret)
{
    if (!looks_like_float(s))
        return false;
    double value = strtod(s, NULL);
    if (!isfinite(value))
        return false;
    if (fabs(value) < 0x1p63 && value == (double) (int64_t) value)
        *ret = (struct yaml_scalar){ .kind = YAML_SCALAR_INT, .integer = (int64_t) value };
    else
        *ret = (struct yaml_scalar){ .kind = YAML_SCALAR_FLOAT, .real = value };
    return true;
}

static char *without_underscores(const char *text)
{
    char *copy = xstrdup(text);
    char *to = copy;
    for (const char *from = text; *from; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    return copy;
}

struct yaml_scalar yaml_scalar_of(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(text, words[i].text))
            return (struct yaml_scalar){ .kind = words[i].kind, .boolean = words[i].boolean };
    struct yaml_scalar number = { .kind = YAML_SCALAR_STRING };
    if (*text == '.') {
        parse_float(text, &number);
    } else if (is_digit(*text) || *text == '+' || *text == '-') {
        CLEANUP_FREE char *plain = without_underscores(text);
        if (!parse_int(plain, &number))
            parse_float(plain, &number);
    }
    return number;
}

bool yaml_scalar_needs_quotes(const char *text)
{
    if (yaml_scalar_of(text).kind != YAML_SCALAR_STRING || str_eq(text, "<<") || str_eq(text, "="))
        return true;
    bool numeric_start = is_digit(*text) || *text == '+' || *text == '-';
    return numeric_start && strpbrk(text, ":-") && !text[strspn(text, "0123456789:-+._TtZz ")];
}
