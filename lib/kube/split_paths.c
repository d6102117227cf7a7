#include "kube/split_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The first name of the rest of a path; the rest goes on after it. */
static struct split_name take_name(const char **rest)
{
    const char *at = *rest;
    struct split_name name = { .but = *at == '!' };
    at += *at == '=';
    name.len = (uint16_t) (at > *rest || name.but ? strlen(at) : strcspn(at, "."));
    name.name = at;
    name.ends = at[name.len] == '\0';
    *rest = at + name.len + !name.ends;
    return name;
}

static bool is_same(const struct split_name *a, const struct split_name *b)
{
    return a->but == b->but && a->len == b->len && memcmp(a->name, b->name, a->len) == 0;
}

/* The place of a name after another one; if it is not there yet, it is added as the last. */
static unsigned enter(struct split_name *names, unsigned after, const struct split_name *name,
                      unsigned *count)
{
    uint16_t *link = &names[after].first;
    while (*link && !is_same(&names[*link], name))
        link = &names[*link].next;
    if (!*link) {
        *link = (uint16_t) *count;
        names[(*count)++] = *name;
    }
    names[*link].ends |= name->ends;
    return *link;
}

/* Room for all names of all paths. */
static size_t most_names(const char *const *paths)
{
    size_t most = SPLIT_PATHS_BEGIN + 1;
    for (size_t i = 0; paths[i]; i++) {
        const char *rest = paths[i];
        for (bool more = true; more; most++)
            more = !take_name(&rest).ends;
    }
    return most;
}

struct split_name *split_paths_new(const char *const *paths)
{
    if (!paths || !paths[0])
        return NULL;
    struct split_name *names = xcalloc(most_names(paths), sizeof *names);
    unsigned count = SPLIT_PATHS_BEGIN + 1;
    for (size_t i = 0; paths[i]; i++) {
        const char *rest = paths[i];
        struct split_name name;
        unsigned at = SPLIT_PATHS_BEGIN;
        do {
            name = take_name(&rest);
            at = enter(names, at, &name, &count);
        } while (!name.ends);
    }
    return xreallocarray(names, count, sizeof *names);
}

/* Whether a key begins with one of the prefixes "!a/!b/". */
static bool begins_with_one(const char *prefixes, const char *key, size_t key_len)
{
    bool begins = false;
    for (size_t len; *prefixes; prefixes += len) {
        len = strcspn(++prefixes, "!");
        begins |= key_len >= len && memcmp(prefixes, key, len) == 0;
    }
    return begins;
}

static bool is_it(const struct split_name *n, const char *key, size_t len)
{
    return n->but ? !begins_with_one(n->name, key, len)
                  : n->len == len && memcmp(n->name, key, len) == 0;
}

unsigned split_paths_follow(const struct split_name *names, unsigned at, const char *key,
                            size_t len, bool *ret_ends)
{
    unsigned leads = 0;
    *ret_ends = false;
    for (unsigned i = at ? names[at].first : 0; i; i = names[i].next) {
        if (!is_it(&names[i], key, len))
            continue;
        *ret_ends |= names[i].ends;
        leads = names[i].first ? i : leads;
    }
    return leads;
}
