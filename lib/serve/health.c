#include "serve/health.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum { NAME_SHOWN_MAX = 64 };

/* Whether a query "a&b=c" has a parameter with this value; NULL: with any or none. */
static bool query_has(const char *query, const char *name, const char *value)
{
    CLEANUP_FREE char *copy = xstrdup(query);
    const char *found;
    for (char *rest = copy, *part; (part = strsep(&rest, "&"));)
        if (str_is_option(part, name, &found) && (!value || str_eq(found, value)))
            return true;
    return false;
}

static const struct health_check *health_find(const struct health *h, const char *name)
{
    for (size_t i = 0; i < h->count; i++)
        if (str_eq(h->checks[i].name, name))
            return &h->checks[i];
    return NULL;
}

/* Otherwise a misspelt exclude would go unnoticed until it is needed. */
static void warn_of_unknown(const struct health *h, const char *query, struct buf *out)
{
    CLEANUP_FREE char *copy = xstrdup(query);
    const char *name;
    for (char *rest = copy, *part; (part = strsep(&rest, "&"));)
        if (str_is_option(part, "exclude", &name) && name && !health_find(h, name))
            buf_printf(out, "warn: there is no check \"%.*s\" to exclude\n", NAME_SHOWN_MAX, name);
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
    const struct health_check *c = health_find(h, name);
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
        if (query_has(query, "exclude", h->checks[i].name))
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
    bool verbose = query_has(query, "verbose", NULL);
    return *check ? answer_one(h, check, verbose, out) : answer_all(h, query, verbose, out);
}
