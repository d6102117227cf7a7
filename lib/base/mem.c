#include "base/mem.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p)
{
    if (!p) {
        fputs("ostler: out of memory; exiting, the state is in the API server\n", stderr);
        abort();
    }
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
    return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

void *xgrow(void *items, size_t len, size_t *cap, size_t size)
{
    if (len < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 8;
    return xreallocarray(items, *cap, size);
}

char *xstrdup(const char *s)
{
    return checked(strdup(s));
}

char *xstrdup_or_null(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

void xstrset(char **place, const char *s)
{
    char *copy = xstrdup_or_null(s); /* before the old one is freed, of which it may be a part */
    free(*place);
    *place = copy;
}

char *xstrndup(const char *s, size_t n)
{
    return checked(strndup(s, n));
}

char *xvasprintf(const char *fmt, va_list ap)
{
    char *s = NULL;
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    return checked(s);
}

char *xasprintf(const char *fmt, ...)
{
    return FORMATTED(fmt);
}

static void *jansson_malloc(size_t size)
{
    return checked(malloc(size ? size : 1));
}

void mem_hook_jansson(void)
{
    json_set_alloc_funcs(jansson_malloc, free);
    /* Seed the hash of keys, since users choose object keys. */
    json_object_seed(0);
}

void mem_cleanup_free(void *p)
{
    free(*(void **) p);
}
