#include "base/err.h"

#include <stdlib.h>

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
    if (!e)
        return -1;
    char *msg = FORMATTED(fmt);
    free(e->msg); /* only now: an argument may be the old message */
    e->msg = msg;
    e->kind = kind;
    return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    if (!e)
        return -1;
    CLEANUP_FREE char *context = FORMATTED(fmt);
    char *msg = xasprintf("%s: %s", context, err_msg(e));
    free(e->msg);
    e->msg = msg;
    return -1;
}

const char *err_msg(const struct err *e)
{
    return e->msg ? e->msg : "";
}

const char *err_kind_name(enum err_kind kind)
{
    static const char *const names[] = {
#define X(name, text) [ERR_##name] = text,
        ERR_KINDS(X)
#undef X
    };
    return names[kind];
}

struct err err_take(struct err *e)
{
    struct err taken = *e;
    *e = (struct err){ 0 };
    return taken;
}

void err_clear(struct err *e)
{
    free(e->msg);
    *e = (struct err){ 0 };
}
