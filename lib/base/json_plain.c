#include "base/json_plain.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum {
    /* Of a string with escapes. Ostler's own annotations have up to a few thousand bytes. */
    UNESCAPED_MAX = 8 << 10,
    DIGITS_MAX = 18, /* fit into 64 bits */
};

struct reading {
    const char *at, *end;
    int depth;
    char copy[UNESCAPED_MAX]; /* of a string with escapes */
};

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (unsigned char) (c))

/* The highest bit of each byte below `less` (at most 128) and without that bit itself; those of
 * bytes above the lowest one may be wrong. */
static uint64_t bytes_below(uint64_t word, unsigned char less)
{
    return (word - EACH_BYTE(less)) & ~word & EACH_BYTE(0x80);
}

/* Bytes that end a run of plain ones: quote, backslash, control characters, all beyond ASCII. */
static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x80 && c != '"' && c != '\\';
}

/* The end of the run of plain bytes. */
static const char *skip_plain(const char *at, const char *end)
{
    for (uint64_t word, found; end - at >= (ptrdiff_t) sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word); /* both supported processors are little-endian */
        found = bytes_below(word, ' ') | bytes_below(word ^ EACH_BYTE('"'), 1) |
                bytes_below(word ^ EACH_BYTE('\\'), 1) | (word & EACH_BYTE(0x80));
        if (found)
            return at + __builtin_ctzll(found) / 8;
    }
    while (at < end && is_plain((unsigned char) *at))
        at++;
    return at;
}

/* What a short escape stands for; 0: it is none. */
static char unescaped(char c)
{
    static const char plain[UCHAR_MAX + 1] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'
    };
    return plain[(unsigned char) c];
}

static bool takes(struct reading *r, char c)
{
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

/* Takes the rest of a string that has escapes; `from` is its beginning. The text is then in
 * r->copy. */
static bool takes_escaped(struct reading *r, const char *from, size_t *ret_len)
{
    size_t len = 0;
    for (;;) {
        size_t n = (size_t) (r->at - from);
        if (n >= UNESCAPED_MAX - len)
            return false;
        memcpy(r->copy + len, from, n);
        len += n;
        char c = r->end - r->at > 1 && *r->at == '\\' ? unescaped(r->at[1]) : '\0';
        if (!c)
            break;
        r->copy[len++] = c;
        from = r->at + 2;
        r->at = skip_plain(from, r->end);
    }
    *ret_len = len;
    return takes(r, '"');
}

/* Takes a string after its opening quote. `ret` is in the text or in r->copy. */
static bool takes_text(struct reading *r, const char **ret, size_t *ret_len)
{
    const char *from = r->at;
    r->at = skip_plain(from, r->end);
    *ret = from;
    *ret_len = (size_t) (r->at - from);
    if (takes(r, '"'))
        return true;
    *ret = r->copy;
    return takes_escaped(r, from, ret_len);
}

/* A whole number as it is usually written. */
static json_t *take_number(struct reading *r)
{
    json_int_t number = 0;
    bool below = takes(r, '-');
    const char *from = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (r->at - from == DIGITS_MAX)
            return NULL;
        number = number * 10 + (*r->at - '0');
    }
    bool odd = r->at == from || (*from == '0' && (below || r->at - from > 1));
    if (odd || (r->at < r->end && strchr(".eE", *r->at)))
        return NULL;
    return json_integer(below ? -number : number);
}

static bool takes_word(struct reading *r, const char *word)
{
    size_t len = strlen(word);
    bool there = (size_t) (r->end - r->at) >= len && memcmp(r->at, word, len) == 0;
    r->at += there ? len : 0;
    return there;
}

static json_t *take_word(struct reading *r)
{
    return takes_word(r, "true")    ? json_true()
           : takes_word(r, "false") ? json_false()
           : takes_word(r, "null")  ? json_null()
                                    : NULL;
}

static json_t *take_value(struct reading *r);

static json_t *take_text(struct reading *r)
{
    const char *text;
    size_t len;
    return takes_text(r, &text, &len) ? json_stringn_nocheck(text, len) : NULL;
}

/* Takes a member after the quote of its key. */
static bool takes_member(struct reading *r, json_t *object)
{
    const char *text;
    size_t len, before = json_object_size(object);
    if (!takes_text(r, &text, &len) || !takes(r, ':'))
        return false;
    /* Other members may need the copy meanwhile. */
    CLEANUP_FREE char *copy = text == r->copy ? xstrndup(text, len) : NULL;
    json_t *value = take_value(r);
    return value && json_object_setn_new_nocheck(object, copy ? copy : text, len, value) == 0 &&
           json_object_size(object) > before;
}

/* The members of an object after its brace; false: given up. */
static bool takes_members(struct reading *r, json_t *object)
{
    if (takes(r, '}'))
        return true;
    do
        if (!takes(r, '"') || !takes_member(r, object))
            return false;
    while (takes(r, ','));
    return takes(r, '}');
}

static bool takes_items(struct reading *r, json_t *array)
{
    if (takes(r, ']'))
        return true;
    do {
        json_t *value = take_value(r);
        if (!value || json_array_append_new(array, value) < 0)
            return false;
    } while (takes(r, ','));
    return takes(r, ']');
}

static json_t *take_container(struct reading *r, bool object)
{
    if (++r->depth > JSON_PLAIN_DEPTH_MAX)
        return NULL;
    json_t *container = object ? json_object() : json_array();
    bool whole = object ? takes_members(r, container) : takes_items(r, container);
    r->depth--;
    if (whole)
        return container;
    json_decref(container);
    return NULL;
}

/* The value that begins here; NULL: given up. */
static json_t *take_value(struct reading *r)
{
    if (takes(r, '"'))
        return take_text(r);
    if (takes(r, '{'))
        return take_container(r, true);
    if (takes(r, '['))
        return take_container(r, false);
    bool letter = r->at < r->end && *r->at >= 'a';
    return letter ? take_word(r) : take_number(r);
}

json_t *json_plain(const char *text, size_t len)
{
    struct reading r; /* without the copy */
    if (!len)
        return NULL; /* and `text` may be NULL */
    r.at = text;
    r.end = text + len;
    r.depth = 0;
    json_t *value = take_value(&r);
    if (value && r.at == r.end)
        return value;
    json_decref(value);
    return NULL;
}

/* ---- writing */

/* The letter of a short escape; 0: there is none. */
static char escape_of(char c)
{
    static const char letters[UCHAR_MAX + 1] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'
    };
    return letters[(unsigned char) c];
}

static bool writes_text(struct buf *to, const char *text, size_t len)
{
    const char *end = text + len;
    bool well = buf_add(to, "\"", 1);
    while (well && text < end) {
        const char *run = skip_plain(text, end);
        well = buf_add(to, text, (size_t) (run - text));
        if (run == end)
            break;
        const char escape[] = { '\\', escape_of(*run) };
        well = well && escape[1] && buf_add(to, escape, sizeof escape);
        text = run + 1;
    }
    return well && buf_add(to, "\"", 1);
}

static bool writes_word(struct buf *to, const char *word)
{
    return buf_add(to, word, strlen(word));
}

static bool writes_number(struct buf *to, json_int_t n)
{
    char text[BUF_NUMBER_MAX];
    return buf_add(to, text, (size_t) (buf_digits(text, n) - text));
}

static bool writes_value(struct buf *to, const json_t *value);

static bool writes_members(struct buf *to, json_t *object)
{
    bool well = buf_add(to, "{", 1), first = true;
    for (void *at = json_object_iter(object); well && at; at = json_object_iter_next(object, at)) {
        well = (first || buf_add(to, ",", 1)) &&
               writes_text(to, json_object_iter_key(at), json_object_iter_key_len(at)) &&
               buf_add(to, ":", 1) && writes_value(to, json_object_iter_value(at));
        first = false;
    }
    return well && buf_add(to, "}", 1);
}

static bool writes_items(struct buf *to, const json_t *array)
{
    bool well = buf_add(to, "[", 1);
    for (size_t i = 0; well && i < json_array_size(array); i++)
        well = (i == 0 || buf_add(to, ",", 1)) && writes_value(to, json_array_get(array, i));
    return well && buf_add(to, "]", 1);
}

static bool writes_value(struct buf *to, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return writes_members(to, (json_t *) value);
    case JSON_ARRAY:
        return writes_items(to, value);
    case JSON_STRING:
        return writes_text(to, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        return writes_number(to, json_integer_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return writes_word(to, json_is_true(value) ? "true" : "false");
    case JSON_NULL:
        return writes_word(to, "null");
    case JSON_REAL:
    default:
        return false;
    }
}

char *json_plain_write(const json_t *root)
{
    CLEANUP_BUF struct buf text = BUF_INIT(SIZE_MAX / 4);
    if (!root || !writes_value(&text, root))
        return NULL;
    size_t size = text.len + 1;
    return xreallocarray(buf_take(&text), size, 1);
}

/* ---- */

bool json_is_plain_text(const char *text, size_t len)
{
    size_t i = 0;
    for (uint64_t word; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        if (bytes_below(word, ' ') | bytes_below(word ^ EACH_BYTE('\\'), 1) |
            (word & EACH_BYTE(0x80)))
            return false;
    }
    while (i < len && (is_plain((unsigned char) text[i]) || text[i] == '"'))
        i++;
    return i == len;
}
