#include "reconcilers/model/reason.h"

#include <stddef.h>

#include "base/str.h"

static const struct {
    const char *text, *todo;
    enum reason_class class;
} rows[REASON_COUNT] = {
    [REASON_NONE] = { "", NULL, REASON_PROGRESS },
#define REASON(id, text, class, page, todo) [REASON_##id] = { text, todo, REASON_##class },
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
    for (int i = 0; i < REASON_COUNT; i++)
        if (str_eq(rows[i].text, str_or_empty(text)))
            return (enum reason) i;
    return REASON_OTHER;
}

const char *reason_word(enum reason r, const char *other)
{
    return r == REASON_OTHER && other ? other : rows[r].text;
}
