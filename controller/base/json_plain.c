#include "base/json_plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

enum { DEPTH_MAX = 64, DIGITS_MAX = 18 };

struct reader {
    const char *at, *end;
    int depth;
    struct buf unescaped; /* the string in hand, where it has escapes */
};

/* A string in the text or in reader.unescaped. */
struct piece {
    const char *bytes;
    size_t len;
    bool ascii;
};

static json_t *read_value(struct reader *r);

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

/* Takes this byte, after any space, when it is the next one. */
static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* ---- strings */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* \u00XX for an ASCII character, which servers write for < > &; 0: something else. */
static char short_code(const char *digits)
{
    int high = hex_digit(digits[2]), low = hex_digit(digits[3]);
    bool ascii = digits[0] == '0' && digits[1] == '0' && high >= 0 && high < 8 && low >= 0;
    return ascii ? (char) (high << 4 | low) : '\0';
}

/* The character of the escape at r->at, which is behind the backslash; 0: one that is not plain. */
static char read_escape(struct reader *r)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end)
        return '\0';
    char c = *r->at++;
    if (c == 'u') {
        if (r->end - r->at < 4)
            return '\0';
        r->at += 4;
        return short_code(r->at - 4);
    }
    const char *name = c ? strchr(names, c) : NULL;
    return name ? values[name - names] : '\0';
}

/* The first byte from `at` on that a string cannot hold as it is, or the end. */
static const char *run_end(const char *at, const char *end, bool *ascii)
{
    unsigned char high = 0;
    while (at < end && (unsigned char) *at >= ' ' && *at != '"' && *at != '\\')
        high |= (unsigned char) *at++;
    *ascii = *ascii && high < 0x80;
    return at;
}

/* The string that begins behind a quote. */
static bool read_string(struct reader *r, struct piece *ret)
{
    const char *begin = r->at;
    *ret = (struct piece){ .ascii = true };
    r->at = run_end(begin, r->end, &ret->ascii);
    if (r->at < r->end && *r->at == '"') {
        ret->bytes = begin;
        ret->len = (size_t) (r->at++ - begin);
        return true;
    }
    buf_reset(&r->unescaped);
    while (r->at < r->end && *r->at == '\\') {
        bool fits = buf_add(&r->unescaped, begin, (size_t) (r->at++ - begin));
        char c = read_escape(r);
        if (!c || !fits || !buf_add(&r->unescaped, &c, 1))
            return false;
        begin = r->at;
        r->at = run_end(begin, r->end, &ret->ascii);
    }
    if (r->at == r->end || *r->at != '"' || !buf_add(&r->unescaped, begin, (size_t) (r->at++ - begin)))
        return false;
    ret->bytes = r->unescaped.data;
    ret->len = r->unescaped.len;
    return true;
}

static json_t *string_value(struct reader *r)
{
    struct piece s;
    if (!read_string(r, &s))
        return NULL;
    /* NULL where it is not UTF-8. */
    return s.ascii ? json_stringn_nocheck(s.bytes, s.len) : json_stringn(s.bytes, s.len);
}

/* ---- numbers and literals */

static json_t *number_value(struct reader *r)
{
    bool negative = *r->at == '-';
    const char *first = r->at += negative;
    int64_t n = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && r->at - first < DIGITS_MAX)
        n = n * 10 + (*r->at++ - '0');
    ptrdiff_t digits = r->at - first;
    bool goes_on = r->at < r->end && memchr("0123456789.eE", *r->at, 13);
    if (digits == 0 || (digits > 1 && *first == '0') || goes_on)
        return NULL;
    return json_integer(negative ? -n : n);
}

static json_t *literal(struct reader *r, const char *text, json_t *value)
{
    size_t len = strlen(text);
    if ((size_t) (r->end - r->at) < len || memcmp(r->at, text, len) != 0)
        return NULL;
    r->at += len;
    return value;
}

/* ---- containers */

static bool read_member(struct reader *r, json_t *object)
{
    struct piece key;
    if (!take(r, '"') || !read_string(r, &key) || !key.ascii)
        return false;
    /* The value's strings take the place of an unescaped key. */
    CLEANUP_FREE char *kept = key.bytes == r->unescaped.data ? xstrndup(key.bytes, key.len) : NULL;
    json_t *value = take(r, ':') ? read_value(r) : NULL;
    size_t before = json_object_size(object);
    return value && json_object_setn_new_nocheck(object, kept ? kept : key.bytes, key.len, value) == 0 && json_object_size(object) > before;
}

static bool read_element(struct reader *r, json_t *array)
{
    json_t *value = read_value(r);
    return value && json_array_append_new(array, value) == 0;
}

/* What stands between the brackets, the first of which was taken. */
static json_t *container(struct reader *r, json_t *into_steal, char close, bool (*read)(struct reader *, json_t *))
{
    bool good = r->depth++ < DEPTH_MAX;
    if (good && !take(r, close)) {
        do
            good = read(r, into_steal);
        while (good && take(r, ','));
        good = good && take(r, close);
    }
    r->depth--;
    if (good)
        return into_steal;
    json_decref(into_steal);
    return NULL;
}

static json_t *read_value(struct reader *r)
{
    skip_space(r);
    if (r->at == r->end)
        return NULL;
    switch (*r->at) {
    case '"':
        r->at++;
        return string_value(r);
    case '{':
        r->at++;
        return container(r, json_object(), '}', read_member);
    case '[':
        r->at++;
        return container(r, json_array(), ']', read_element);
    case 't':
        return literal(r, "true", json_true());
    case 'f':
        return literal(r, "false", json_false());
    case 'n':
        return literal(r, "null", json_null());
    default:
        return number_value(r);
    }
}

json_t *json_plain(const char *text, size_t len)
{
    struct reader r = { .at = text, .end = text + len, .unescaped = BUF_INIT(len) };
    json_t *value = read_value(&r);
    buf_clear(&r.unescaped);
    skip_space(&r);
    if (value && r.at == r.end)
        return value;
    json_decref(value);
    return NULL;
}
