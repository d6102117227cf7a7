#include "kube/picks.h"

#include <string.h>

#include "base/json_plain.h"
#include "kube/skip.h"

struct picking {
    const char *at, *end;
};

static size_t rest_of(const struct picking *p)
{
    return (size_t) (p->end - p->at);
}

static bool takes_byte(struct picking *p, char c)
{
    bool there = p->at < p->end && *p->at == c;
    p->at += there;
    return there;
}

/* Takes a key with its quotes and the colon; `ret`: what is between the quotes. */
static bool takes_key(struct picking *p, struct picked *ret)
{
    if (!takes_byte(p, '"'))
        return false;
    const char *quote = memchr(p->at, '"', rest_of(p));
    if (!quote || memchr(p->at, '\\', (size_t) (quote - p->at)))
        return false;
    *ret = (struct picked){ p->at, (size_t) (quote - p->at) };
    p->at = quote + 1;
    return takes_byte(p, ':');
}

/* Takes a string after its first quote, whatever is in it. */
static bool takes_string(struct picking *p)
{
    const char *quote = memchr(p->at, '"', rest_of(p));
    if (quote && !memchr(p->at, '\\', (size_t) (quote - p->at))) {
        p->at = quote + 1;
        return true;
    }
    while (p->at < p->end && *p->at != '"')
        p->at += *p->at == '\\' && rest_of(p) > 1 ? 2 : 1;
    return takes_byte(p, '"');
}

/* Bytes of numbers and words. */
static bool is_of_scalar(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || strchr("+-.E", c);
}

/* Takes a value of any kind. */
static bool takes_value(struct picking *p)
{
    if (takes_byte(p, '"'))
        return takes_string(p);
    if (takes_byte(p, '{') || takes_byte(p, '[')) {
        struct skip skip = { .open = 1 };
        p->at += skip_json(&skip, p->at, rest_of(p));
        return skip.open == 0;
    }
    const char *from = p->at;
    while (p->at < p->end && *p->at && is_of_scalar(*p->at))
        p->at++;
    return p->at > from;
}

static const struct picks_row *row_of(const struct picks_row *rows, const struct picked *key)
{
    for (const struct picks_row *row = rows; row->name; row++)
        if (strlen(row->name) == key->len && memcmp(row->name, key->at, key->len) == 0)
            return row;
    return NULL;
}

/* Takes an object after its bracket. */
static bool takes_members(struct picking *p, const struct picks_row *rows, struct picked *ret)
{
    if (takes_byte(p, '}'))
        return true;
    do {
        struct picked key;
        if (!takes_key(p, &key))
            return false;
        const struct picks_row *row = row_of(rows, &key);
        const char *from = p->at;
        if (row && ret[row->place].at)
            return false;
        /* The rows have few levels. */
        if (!(row && row->rows && takes_byte(p, '{') ? takes_members(p, row->rows, ret)
                                                     : takes_value(p)))
            return false;
        if (row)
            ret[row->place] = (struct picked){ from, (size_t) (p->at - from) };
    } while (takes_byte(p, ','));
    return takes_byte(p, '}');
}

bool picks_read(const char *text, size_t len, const struct picks_row *rows, struct picked *ret)
{
    struct picking p = { text, text + len };
    return takes_byte(&p, '{') && takes_members(&p, rows, ret) && p.at == p.end;
}

bool picks_next(struct picked *list, struct picked *ret)
{
    if (!list->at)
        return false;
    struct picking p = { list->at, list->at + list->len };
    bool there = takes_byte(&p, '[') || takes_byte(&p, ',');
    const char *from = p.at;
    if (!there || !takes_value(&p))
        return false;
    *ret = (struct picked){ from, (size_t) (p.at - from) };
    *list = (struct picked){ p.at, rest_of(&p) };
    return true;
}

bool picks_text(const struct picked *value, char *to, size_t size)
{
    bool string = value->at && value->len > 1 && *value->at == '"';
    size_t len = string ? value->len - 2 : 0;
    if (!string || len >= size || !json_is_plain_text(value->at, value->len))
        return false;
    memcpy(to, value->at + 1, len);
    to[len] = '\0';
    return true;
}

bool picks_is(const struct picked *value, const char *string)
{
    size_t len = strlen(string);
    return value->at && value->len == len + 2 && *value->at == '"' &&
           memcmp(value->at + 1, string, len) == 0;
}
