/* json_loadb() of the sweeps, which takes a fifth of the time of jansson's: the programs that live
 * in one process tell each other everything in JSON, and jansson reads it character by character.
 * It reads what is usual, and makes the same values of it. As soon as a text has anything else in
 * it, jansson reads it from its beginning: characters beyond ASCII, \u, numbers with a fraction, an
 * error. Some lives are read by jansson alone (load_by_jansson). */
#include "tests/sweep/load.h"

#include <ctype.h>
#include <dlfcn.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { DEPTH_MAX = 200, DIGITS_MAX = 17, TEXT_MAX = 32 << 20, KEY_MAX = 1000 };

#define KNOWN_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL)

typedef json_t *load_fn(const char *text, size_t len, size_t flags, json_error_t *error);

struct loading {
    const char *at, *end;
    bool rejects_duplicates;
    int depth;
    struct buf plain; /* the last string that had an escape */
};

static bool by_jansson;

void load_by_jansson(bool all)
{
    by_jansson = all;
}

static json_t *value(struct loading *l);

static void skip_blanks(struct loading *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\n' || *l->at == '\r' || *l->at == '\t'))
        l->at++;
}

/* Steps over a character, if it is the next one. */
static bool load_take(struct loading *l, char c)
{
    skip_blanks(l);
    bool is_next = l->at < l->end && *l->at == c;
    l->at += is_next;
    return is_next;
}

/* Bytes that stand for themselves within a string. */
static bool is_plain(char c)
{
    return c >= ' ' && c != '"' && c != '\\' && c != 0x7f;
}

/* Reads the rest of a string that has an escape. */
static bool unescape(struct loading *l, const char *from)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    buf_reset(&l->plain);
    for (;;) {
        if (!buf_add(&l->plain, from, (size_t) (l->at - from)))
            return false;
        if (l->at < l->end && *l->at == '"')
            return true;
        if (l->end - l->at < 2 || *l->at != '\\')
            return false;
        const char *letter = memchr(letters, l->at[1], sizeof letters - 1);
        if (!letter || !buf_add(&l->plain, &meant[letter - letters], 1))
            return false;
        for (from = l->at += 2; l->at < l->end && is_plain(*l->at);)
            l->at++;
    }
}

/* Reads a string behind its opening quote. The text is valid until the next one is read. */
static bool string(struct loading *l, const char **ret, size_t *ret_len)
{
    const char *from = l->at;
    while (l->at < l->end && is_plain(*l->at))
        l->at++;
    if (l->at == l->end)
        return false;
    if (*l->at == '"') {
        *ret = from;
        *ret_len = (size_t) (l->at++ - from);
        return true;
    }
    if (!unescape(l, from))
        return false;
    l->at++;
    *ret = buf_text(&l->plain);
    *ret_len = l->plain.len;
    return true;
}

static json_t *number(struct loading *l)
{
    bool negative = *l->at == '-';
    const char *from = l->at += negative;
    json_int_t n = 0;
    for (; l->at < l->end && isdigit((unsigned char) *l->at); l->at++)
        if (l->at - from < DIGITS_MAX)
            n = n * 10 + (*l->at - '0');
    ptrdiff_t digits = l->at - from;
    bool odd = digits == 0 || digits > DIGITS_MAX || (*from == '0' && (digits > 1 || negative));
    bool real = l->at < l->end && strchr(".eE", *l->at);
    return odd || real ? NULL : json_integer(negative ? -n : n);
}

static json_t *word(struct loading *l, const char *text, json_t *value_steal)
{
    size_t n = strlen(text);
    if ((size_t) (l->end - l->at) < n || memcmp(l->at, text, n) != 0)
        return NULL;
    l->at += n;
    bool ends = l->at == l->end || !isalpha((unsigned char) *l->at);
    return ends ? value_steal : NULL;
}

/* Reads a list behind its bracket into `list`. */
static bool items(struct loading *l, json_t *list)
{
    if (load_take(l, ']'))
        return true;
    do {
        json_t *item = value(l);
        if (!item || json_array_append_new(list, item) < 0)
            return false;
    } while (load_take(l, ','));
    return load_take(l, ']');
}

static bool member(struct loading *l, json_t *object)
{
    const char *key;
    size_t len;
    char kept[KEY_MAX];
    if (!load_take(l, '"') || !string(l, &key, &len) || len >= KEY_MAX ||
        (l->rejects_duplicates && json_object_getn(object, key, len)))
        return false;
    if (key == l->plain.data) { /* the value may overwrite it */
        memcpy(kept, key, len);
        key = kept;
    }
    json_t *v = load_take(l, ':') ? value(l) : NULL;
    return v && json_object_setn_new_nocheck(object, key, len, v) == 0;
}

/* Reads a map behind its brace into `object`. */
static bool members(struct loading *l, json_t *object)
{
    if (load_take(l, '}'))
        return true;
    do
        if (!member(l, object))
            return false;
    while (load_take(l, ','));
    return load_take(l, '}');
}

static json_t *container(struct loading *l, bool is_map)
{
    if (++l->depth > DEPTH_MAX)
        return NULL;
    json_t *c = is_map ? json_object() : json_array();
    l->at++;
    bool read = is_map ? members(l, c) : items(l, c);
    l->depth--;
    if (read)
        return c;
    json_decref(c);
    return NULL;
}

/* A new reference; NULL: it is unusual, or wrong. */
static json_t *value(struct loading *l)
{
    const char *text;
    size_t len;
    skip_blanks(l);
    if (l->at == l->end)
        return NULL;
    switch (*l->at) {
    case '{':
    case '[':
        return container(l, *l->at == '{');
    case '"':
        l->at++;
        return string(l, &text, &len) ? json_stringn_nocheck(text, len) : NULL;
    case 't':
        return word(l, "true", json_true());
    case 'f':
        return word(l, "false", json_false());
    case 'n':
        return word(l, "null", json_null());
    default:
        return number(l);
    }
}

static json_t *load_usual(const char *text, size_t len, size_t flags)
{
    struct loading l = { .at = text,
                         .end = text + len,
                         .rejects_duplicates = flags & JSON_REJECT_DUPLICATES,
                         .plain = BUF_INIT(TEXT_MAX) };
    skip_blanks(&l);
    bool is_container = l.at < l.end && (*l.at == '{' || *l.at == '[');
    json_t *v = is_container || flags & JSON_DECODE_ANY ? value(&l) : NULL;
    skip_blanks(&l);
    buf_clear(&l.plain);
    if (l.at == l.end)
        return v;
    json_decref(v);
    return NULL;
}

/* Instead of jansson's, which is in a shared library. */
json_t *json_loadb(const char *text, size_t len, size_t flags, json_error_t *error)
{
    static load_fn *jansson;
    json_t *v = by_jansson || flags & ~(size_t) KNOWN_FLAGS ? NULL : load_usual(text, len, flags);
    if (v)
        return v;
    if (!jansson)
        *(void **) &jansson = dlsym(RTLD_NEXT, "json_loadb");
    return jansson(text, len, flags, error);
}
