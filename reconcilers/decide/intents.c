#include "reconcilers/decide/intents.h"

#include <stdlib.h>

#include "base/mem.h"

/* More children than any policy has; the rest are keys that are not used any longer. */
enum { INTENTS_MAX = 512 };

struct entry {
    char *key;
    char *intent;
};

static void entry_free(struct entry *e)
{
    if (!e)
        return;
    free(e->key);
    free(e->intent);
    free(e);
}

const char *intents_get(const struct intents *m, const char *key)
{
    const struct entry *e = map_get(&m->by_key, key);
    return e ? e->intent : NULL;
}

void intents_put(struct intents *m, const char *key, const char *intent)
{
    if (m->by_key.len >= INTENTS_MAX)
        intents_clear(m);
    struct entry *e = xcalloc(1, sizeof *e);
    *e = (struct entry){ xstrdup(key), xstrdup(intent) };
    entry_free(map_put(&m->by_key, e->key, e));
}

void intents_clear(struct intents *m)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&m->by_key, &cursor)))
        entry_free(e->value);
    map_clear(&m->by_key);
}
