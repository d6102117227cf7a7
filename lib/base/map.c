#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static size_t slot_of(const struct map *m, const char *key)
{
    return hash_bytes(key, strlen(key)) & (m->cap - 1);
}

/* The slot of the key, or the free slot for it. */
static size_t probe(const struct map *m, const char *key)
{
    size_t i = slot_of(m, key);
    while (m->entries[i].key && strcmp(m->entries[i].key, key) != 0)
        i = (i + 1) & (m->cap - 1);
    return i;
}

void *map_get(const struct map *m, const char *key)
{
    return m->cap ? m->entries[probe(m, key)].value : NULL;
}

static void grow(struct map *m)
{
    struct map bigger = { .cap = m->cap ? m->cap * 2 : 8 };
    bigger.entries = xcalloc(bigger.cap, sizeof *bigger.entries);
    for (size_t i = 0; i < m->cap; i++)
        if (m->entries[i].key)
            bigger.entries[probe(&bigger, m->entries[i].key)] = m->entries[i];
    bigger.len = m->len;
    free(m->entries);
    *m = bigger;
}

void *map_put(struct map *m, const char *key, void *value)
{
    if ((m->len + 1) * 4 > m->cap * 3)
        grow(m);
    struct map_entry *e = &m->entries[probe(m, key)];
    void *old = e->value;
    m->len += e->key == NULL;
    *e = (struct map_entry){ key, value };
    return old;
}

void *map_make(struct map *m, const char *key, size_t size, size_t key_at)
{
    void *value = map_get(m, key);
    if (!value) {
        value = xcalloc(1, size + strlen(key) + 1);
        map_put(m, strcpy((char *) value + key_at, key), value);
    }
    return value;
}

void *map_remove(struct map *m, const char *key)
{
    if (!m->cap)
        return NULL;
    size_t hole = probe(m, key);
    void *value = m->entries[hole].value;
    if (!m->entries[hole].key)
        return NULL;
    m->len--;
    m->entries[hole] = (struct map_entry){ 0 };
    /* Move back entries that linear probing pushed past the hole. */
    for (size_t i = (hole + 1) & (m->cap - 1); m->entries[i].key; i = (i + 1) & (m->cap - 1)) {
        size_t home = slot_of(m, m->entries[i].key);
        if (((i - home) & (m->cap - 1)) < ((i - hole) & (m->cap - 1)))
            continue;
        m->entries[hole] = m->entries[i];
        m->entries[i] = (struct map_entry){ 0 };
        hole = i;
    }
    return value;
}

const struct map_entry *map_next(const struct map *m, size_t *cursor)
{
    while (*cursor < m->cap) {
        const struct map_entry *e = &m->entries[(*cursor)++];
        if (e->key)
            return e;
    }
    return NULL;
}

const struct map_entry *map_after(const struct map *m, const struct map_entry *e)
{
    size_t cursor = e ? (size_t) (e - m->entries) + 1 : 0;
    return map_next(m, &cursor);
}

void map_clear_with(struct map *m, void (*free_value)(void *value))
{
    MAP_EACH (e, m)
        free_value(e->value);
    map_clear(m);
}

void map_clear(struct map *m)
{
    free(m->entries);
    *m = (struct map){ 0 };
}
