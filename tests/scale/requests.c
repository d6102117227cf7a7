#include "tests/scale/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct requests_of {
    char *kind;
    size_t count;
};

/* With its slash; "" where it is none. */
static const char *subresource_of(const struct request *r)
{
    static const char *const all[] = { "/status", "/eviction", "/log" };
    size_t path = strcspn(r->path, "?");
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        size_t n = strlen(all[i]);
        if (path >= n && strncmp(r->path + path - n, all[i], n) == 0)
            return all[i];
    }
    return "";
}

void requests_count(struct requests *all, const struct request *r)
{
    if (r->class == REQUEST_LEASE || r->class == REQUEST_WATCH)
        return;
    bool of_objects = r->resource != RESOURCE_COUNT;
    CLEANUP_FREE char *kind = xasprintf("%s %s%s", r->method,
                                        of_objects ? resource_get(r->resource)->plural : r->path,
                                        of_objects ? subresource_of(r) : "");
    struct requests_of *of = map_get(&all->kinds, kind);
    if (!of) {
        of = xcalloc(1, sizeof *of);
        of->kind = TAKE(kind);
        map_put(&all->kinds, of->kind, of);
    }
    of->count++;
}

static int most_first(const void *a, const void *b)
{
    const struct requests_of *x = *(struct requests_of *const *) a,
                             *y = *(struct requests_of *const *) b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->kind, y->kind);
}

void requests_print(const struct requests *all, size_t nodes)
{
    size_t cursor = 0, n = 0, total = 0;
    const struct map_entry *e;
    CLEANUP_FREE struct requests_of **list = xcalloc(all->kinds.len, sizeof *list);
    while ((e = map_next(&all->kinds, &cursor)))
        list[n++] = e->value;
    qsort(list, n, sizeof *list, most_first);
    for (size_t i = 0; i < n; i++) {
        total += list[i]->count;
        printf("    %-40s %8.2f\n", list[i]->kind, (double) list[i]->count / (double) nodes);
    }
    printf("    %-40s %8.2f\n", "all for each node", (double) total / (double) nodes);
}

void requests_clear(struct requests *all)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&all->kinds, &cursor))) {
        struct requests_of *of = e->value;
        free(of->kind);
        free(of);
    }
    map_clear(&all->kinds);
}
