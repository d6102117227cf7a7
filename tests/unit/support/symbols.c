#include "tests/unit/support/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

enum { TEXT_MAX = 1 << 20 };

/* Symbols that begin with others come first, so that "$driver@b" is not taken for "$driver" and
 * "@b". */
void symbols_add(json_t *symbols, const char *node, const struct target *target)
{
    CLEANUP_JSON json_t *all = json_object();
    const char *at = node ? "@" : "";
    const struct {
        const char *name, *hash;
    } rows[] = { { "$driver", target->runs.hash[TIER_DRIVER] },
                 { "$stack", target->runs.hash[TIER_STACK] } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_FREE char *symbol = xasprintf("%s%s%s", rows[i].name, at, node ? node : "");
        json_object_set_new(all, symbol, json_string(rows[i].hash));
    }
    json_object_update_missing(all, symbols);
    json_object_clear(symbols);
    json_object_update(symbols, all);
}

static char *replaced(const char *text, const char *from, const char *to)
{
    struct buf out = BUF_INIT(TEXT_MAX);
    const char *at;
    while (*from && (at = strstr(text, from))) {
        buf_printf(&out, "%.*s%s", (int) (at - text), text, to);
        text = at + strlen(from);
    }
    buf_str(&out, text);
    return buf_take(&out);
}

json_t *symbols_resolved(const json_t *symbols, const json_t *tree)
{
    if (!tree)
        return NULL;
    const char *symbol;
    json_t *hash;
    char *text = json_canonical(tree);
    json_object_foreach ((json_t *) symbols, symbol, hash) {
        CLEANUP_FREE char *before = text;
        text = replaced(before, symbol, json_string_value(hash));
    }
    json_t *out = json_parse(text, strlen(text), NULL);
    free(text);
    return out;
}

/* The plain symbols, which come last, win where two nodes have the same target. */
char *symbols_named(const json_t *symbols, const char *text)
{
    const char *symbol;
    json_t *hash;
    char *named = xstrdup(text);
    for (int plain = 1; plain >= 0; plain--)
        json_object_foreach ((json_t *) symbols, symbol, hash) {
            if ((strchr(symbol, '@') == NULL) != (plain == 1))
                continue;
            CLEANUP_FREE char *before = named;
            named = replaced(before, json_string_value(hash), symbol);
        }
    return named;
}
