#include "client/warnings.h"

#include <string.h>

#include "base/log.h"
#include "base/str.h"

void warnings_log_once(struct warnings *w, const char *text)
{
    uint64_t hash = str_hash(text, strlen(text));
    for (size_t i = 0; i < w->count; i++)
        if (w->seen[i] == hash)
            return;
    if (w->count == LIMIT_WARNINGS)
        return;
    w->seen[w->count++] = hash;
    log_warn("the API server warns", "warning", text);
}
