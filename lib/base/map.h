/* A hash map from strings to pointers. Keys are borrowed, usually from the values. */
#ifndef OSTLER_BASE_MAP_H
#define OSTLER_BASE_MAP_H

#include <stddef.h>

struct map_entry {
    const char *key; /* NULL: free */
    void *value;
};

/* Zero-initialised = empty. */
struct map {
    struct map_entry *entries;
    size_t cap; /* a power of two, or 0 */
    size_t len;
};

/* The value, or NULL. */
void *map_get(const struct map *m, const char *key);
/* Sets the value and replaces the key, since the key lives as long as the new value. Returns the
 * old value or NULL. */
void *map_put(struct map *m, const char *key, void *value);
/* The value; a new one if it is absent: `size` zeroed bytes, and behind them room for a copy of the
 * key, which begins at `key_at`. */
void *map_make(struct map *m, const char *key, size_t size, size_t key_at);
/* The same for a struct whose last member is `char MEMBER[]`, the key. */
#define MAP_MAKE(type, member, m, key)                                                             \
    ((type *) map_make((m), (key), sizeof(type), offsetof(type, member)))
/* Removes and returns the value, or NULL. */
void *map_remove(struct map *m, const char *key);
/* The next entry at or after *cursor (start with 0), or NULL at the end. The map must not change
 * during the iteration. */
const struct map_entry *map_next(const struct map *m, size_t *cursor);
/* The entry after `e` (NULL: the first), or NULL at the end. As map_next(), without a cursor. */
const struct map_entry *map_after(const struct map *m, const struct map_entry *e);
/* Runs the statement after it for each entry: MAP_EACH (e, &pods) count(e->value); */
#define MAP_EACH(e, map) for (const struct map_entry *e = NULL; (e = map_after((map), e)) != NULL;)
/* Frees the table, but neither keys nor values. */
void map_clear(struct map *m);
/* Frees the table, and each value by this function; the key may be a part of the value. */
void map_clear_with(struct map *m, void (*free_value)(void *value));

#endif
