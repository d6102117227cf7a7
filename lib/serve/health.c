#include "serve/health.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum { NAME_SHOWN_MAX = 64 };

/* One "key" or "key=value" of a query. */
struct parameter {
    const char *text;
    size_t len;
};

/* Steps through "a&b=c"; false at the end. Starts with { query, 0 }. */
static bool next_parameter(struct parameter *p)
{
    const char *from = p->text + p->len;
    from += strspn(from, "&");
    *p = (struct parameter){ from, strcspn(from, "&") };
    return p->len > 0;
}

static bool parameter_is(const struct parameter *p, const char *key)
{
    size_t n = strlen(key);
    return p->len >= n && memcmp(p->text, key, n) == 0 && (p->len == n || p->text[n] == '=');
}

/* The value of "exclude=", or NULL for another parameter. */
static const char *excluded(const struct parameter *p, size_t *ret_len)
{
    static const char key[] = "exclude=";
    size_t n = sizeof key - 1;
    if (p->len < n || memcmp(p->text, key, n) != 0)
        return NULL;
    *ret_len = p->len - n;
    return p->text + n;
}

static bool health_same(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

static bool is_excluded(const char *name, const char *query)
{
    struct parameter p = { query, 0 };
    while (next_parameter(&p)) {
        size_t len;
        const char *value = excluded(&p, &len);
        if (value && health_same(name, value, len))
            return true;
    }
    return false;
}

static bool is_verbose(const char *query)
{
    struct parameter p = { query, 0 };
    while (next_parameter(&p)) {
        if (parameter_is(&p, "verbose"))
            return true;
    }
    return false;
}

static const struct health_check *health_find(const struct health *h, const char *name, size_t len)
{
    for (size_t i = 0; i < h->count; i++) {
        if (health_same(h->checks[i].name, name, len))
            return &h->checks[i];
    }
    return NULL;
}

/* Otherwise a misspelt exclude would go unnoticed until it is needed. */
static void warn_of_unknown(const struct health *h, const char *query, struct buf *out)
{
    struct parameter p = { query, 0 };
    while (next_parameter(&p)) {
        size_t len;
        const char *value = excluded(&p, &len);
        if (value && !health_find(h, value, len))
            buf_printf(out, "warn: there is no check \"%.*s\" to exclude\n",
                       (int) (len < NAME_SHOWN_MAX ? len : NAME_SHOWN_MAX), value);
    }
}

/* Appends the check's line; true if healthy. */
static bool health_run(const struct health_check *c, struct buf *out)
{
    CLEANUP_FREE char *why = c->why_failed(c->arg);
    if (why)
        buf_printf(out, "[-]%s failed: %s\n", c->name, why);
    else
        buf_printf(out, "[+]%s ok\n", c->name);
    return !why;
}

static int answer_one(const struct health *h, const char *name, bool verbose, struct buf *out)
{
    const struct health_check *c = health_find(h, name, strlen(name));
    if (!c) {
        buf_printf(out, "%s has no check \"%.*s\"\n", h->name,
                   (int) str_utf8_cut(name, NAME_SHOWN_MAX), name);
        return 404;
    }
    if (!health_run(c, out))
        return 500;
    if (!verbose) {
        buf_reset(out);
        buf_str(out, "ok");
    }
    return 200;
}

static int answer_all(const struct health *h, const char *query, bool verbose, struct buf *out)
{
    bool well = true;
    for (size_t i = 0; i < h->count; i++) {
        if (is_excluded(h->checks[i].name, query))
            buf_printf(out, "[+]%s excluded: ok\n", h->checks[i].name);
        else if (!health_run(&h->checks[i], out))
            well = false;
    }
    warn_of_unknown(h, query, out);
    if (well && !verbose) {
        buf_reset(out);
        buf_str(out, "ok");
        return 200;
    }
    buf_printf(out, "%s check %s\n", h->name, well ? "passed" : "failed");
    return well ? 200 : 500;
}

int health_answer(const struct health *h, const char *check, const char *query, struct buf *out)
{
    bool verbose = is_verbose(query);
    return *check ? answer_one(h, check, verbose, out) : answer_all(h, query, verbose, out);
}
