#include "node/inventory/text.h"

#include <string.h>

struct part part_of(const char *text)
{
    return (struct part){ text, strlen(text) };
}

struct part part_of_buf(const struct buf *b)
{
    return (struct part){ buf_text(b), b->len };
}

struct part part_from(struct part p, const char *at)
{
    return (struct part){ at, p.len - (size_t) (at - p.at) };
}

bool part_same(struct part a, struct part b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool part_next(struct part *text, char mark, struct part *ret)
{
    if (text->len == 0)
        return false;
    const char *end = memchr(text->at, mark, text->len);
    size_t len = end ? (size_t) (end - text->at) : text->len, cut = len + (end != NULL);
    *ret = (struct part){ text->at, len };
    text->at += cut;
    text->len -= cut;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool part_word(struct part *text, struct part *ret)
{
    struct part p = part_trimmed(*text);
    size_t len = 0;
    while (len < p.len && !is_blank(p.at[len]))
        len++;
    *ret = (struct part){ p.at, len };
    *text = (struct part){ p.at + len, p.len - len };
    return len > 0;
}

struct part part_trimmed(struct part p)
{
    while (p.len && is_blank(p.at[0])) {
        p.at++;
        p.len--;
    }
    while (p.len && is_blank(p.at[p.len - 1]))
        p.len--;
    return p;
}

bool part_is(struct part p, const char *text)
{
    return part_same(p, part_of(text));
}

bool part_begins(struct part p, const char *prefix)
{
    size_t n = strlen(prefix);
    return n <= p.len && (n == 0 || memcmp(p.at, prefix, n) == 0);
}

bool part_skip(struct part *p, const char *prefix)
{
    if (!part_begins(*p, prefix))
        return false;
    *p = part_from(*p, p->at + strlen(prefix));
    return true;
}

const char *part_find(struct part p, const char *text)
{
    return p.len ? memmem(p.at, p.len, text, strlen(text)) : NULL;
}

bool part_number(struct part p, int64_t max, int64_t *ret)
{
    int64_t value = 0;
    if (p.len == 0)
        return false;
    for (size_t i = 0; i < p.len; i++) {
        if (p.at[i] < '0' || p.at[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, p.at[i] - '0', &value))
            return false;
    }
    if (value > max)
        return false;
    *ret = value;
    return true;
}

bool part_is_hex(struct part p, size_t len)
{
    if (p.len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!((p.at[i] >= '0' && p.at[i] <= '9') || (p.at[i] >= 'a' && p.at[i] <= 'f')))
            return false;
    return true;
}

bool part_assignment(struct part line, struct part *name, struct part *value)
{
    const char *sign = line.len ? memchr(line.at, '=', line.len) : NULL;
    if (!sign)
        return false;
    size_t n = (size_t) (sign - line.at);
    *name = part_trimmed((struct part){ line.at, n });
    *value = part_trimmed((struct part){ sign + 1, line.len - n - 1 });
    return name->len > 0;
}

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

struct part part_bare(struct part text, const char *skip)
{
    size_t len = 0;
    while (text.len && is_one_of(text.at[0], skip)) {
        text.at++;
        text.len--;
    }
    while (len < text.len && !is_one_of(text.at[len], " \t\r\n\"'\\"))
        len++;
    return (struct part){ text.at, len };
}

const char *part_shown(struct arena *a, struct part p, size_t max)
{
    p = part_trimmed(p);
    if (p.len == 0)
        return NULL;
    size_t len = p.len < max ? p.len : max;
    char *copy = arena_alloc(a, len + 1);
    for (size_t i = 0; i < len; i++)
        copy[i] = p.at[i] >= ' ' && p.at[i] <= '~' ? p.at[i] : '?';
    return copy;
}
