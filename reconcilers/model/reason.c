#include "reconcilers/model/reason.h"

#include <stddef.h>
#include <string.h>

#include "base/str.h"

static const struct {
    const char *text;
    size_t len; /* of the text */
    const char *todo;
    enum reason_class class;
} rows[REASON_COUNT] = {
    [REASON_NONE] = { "", 0, NULL, REASON_PROGRESS },
#define REASON(id, text, class, page, todo)                                                        \
    [REASON_##id] = { text, sizeof text - 1, todo, REASON_##class },
#include "reconcilers/model/reasons.inc"
#undef REASON
};

const char *reason_text(enum reason r)
{
    return rows[r].text;
}

enum reason_class reason_class(enum reason r)
{
    return rows[r].class;
}

const char *reason_todo(enum reason r)
{
    return rows[r].todo;
}

enum reason reason_parse(const char *text)
{
    /* Few texts have the same length: only those are compared. */
    size_t len = strlen(str_or_empty(text));
    for (int i = 0; i < REASON_COUNT; i++)
        if (rows[i].len == len && memcmp(rows[i].text, str_or_empty(text), len) == 0)
            return (enum reason) i;
    return REASON_OTHER;
}

const char *reason_word(enum reason r, const char *other)
{
    return r == REASON_OTHER && other ? other : rows[r].text;
}
