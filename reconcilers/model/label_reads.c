#include "reconcilers/model/label_reads.h"

#include <stdlib.h>

#include "base/mem.h"

void label_reads_note(struct label_reads *r, const char *key)
{
    if (r && r->keys.len < LABEL_READS_MAX)
        map_make(&r->keys, key, 0, 0);
}

bool label_reads_have(const struct label_reads *r, const char *key, size_t len)
{
    CLEANUP_FREE char *name = xstrndup(key, len);
    return r->keys.len >= LABEL_READS_MAX || map_get(&r->keys, name);
}

void label_reads_clear(struct label_reads *r)
{
    map_clear_with(&r->keys, free);
}
