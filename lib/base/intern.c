#include "base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct text {
    uint32_t refs;
    uint32_t next; /* in the hash chain or the free list */
    uint32_t hash;
    char *s; /* NULL: the id is free */
};

struct intern {
    struct text *texts; /* by id; index 0 is unused */
    uint32_t len, cap, count, free_list;
    uint32_t *chains;
    uint32_t chain_count; /* a power of two */
};

struct intern *intern_new(void)
{
    struct intern *in = xcalloc(1, sizeof *in);
    in->len = 1;
    in->cap = 64;
    in->texts = xcalloc(in->cap, sizeof *in->texts);
    in->chain_count = 64;
    in->chains = xcalloc(in->chain_count, sizeof *in->chains);
    return in;
}

void intern_free(struct intern *in)
{
    if (!in)
        return;
    for (uint32_t i = 1; i < in->len; i++)
        free(in->texts[i].s);
    free(in->texts);
    free(in->chains);
    free(in);
}

static uint32_t intern_find(const struct intern *in, const char *s, uint32_t hash)
{
    uint32_t id = in->chains[hash & (in->chain_count - 1)];
    while (id && (in->texts[id].hash != hash || strcmp(in->texts[id].s, s) != 0))
        id = in->texts[id].next;
    return id;
}

static void link_text(struct intern *in, uint32_t id)
{
    uint32_t *chain = &in->chains[in->texts[id].hash & (in->chain_count - 1)];
    in->texts[id].next = *chain;
    *chain = id;
}

static void grow_chains(struct intern *in)
{
    in->chain_count *= 2;
    free(in->chains);
    in->chains = xcalloc(in->chain_count, sizeof *in->chains);
    for (uint32_t id = 1; id < in->len; id++)
        if (in->texts[id].s)
            link_text(in, id);
}

static uint32_t new_id(struct intern *in)
{
    uint32_t id = in->free_list;
    if (id) {
        in->free_list = in->texts[id].next;
        return id;
    }
    if (in->len == in->cap) {
        in->cap += in->cap / 2;
        in->texts = xreallocarray(in->texts, in->cap, sizeof *in->texts);
    }
    return in->len++;
}

uint32_t intern_add(struct intern *in, const char *text)
{
    if (!text)
        return INTERN_NONE;
    uint32_t hash = (uint32_t) hash_bytes(text, strlen(text));
    uint32_t id = intern_find(in, text, hash);
    if (id) {
        in->texts[id].refs++;
        return id;
    }
    if (in->count >= in->chain_count)
        grow_chains(in);
    id = new_id(in);
    in->texts[id] = (struct text){ .refs = 1, .hash = hash, .s = xstrdup(text) };
    link_text(in, id);
    in->count++;
    return id;
}

void intern_drop(struct intern *in, uint32_t id)
{
    if (id == INTERN_NONE)
        return;
    struct text *t = &in->texts[id];
    assert(t->refs > 0);
    if (--t->refs)
        return;
    uint32_t *at = &in->chains[t->hash & (in->chain_count - 1)];
    while (*at != id)
        at = &in->texts[*at].next;
    *at = t->next;
    free(TAKE(t->s));
    t->next = in->free_list;
    in->free_list = id;
    in->count--;
}

const char *intern_text(const struct intern *in, uint32_t id)
{
    return id ? in->texts[id].s : NULL;
}

size_t intern_count(const struct intern *in)
{
    return in->count;
}
