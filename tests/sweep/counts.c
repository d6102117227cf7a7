#include "tests/sweep/counts.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/buf.h"

static const struct {
    size_t place;
    const char *text;
} rows[] = {
#define X(name, text) { offsetof(struct counts, name), text },
    COUNTS(X)
#undef X
};

static uint64_t *at(const struct counts *c, size_t place)
{
    return (uint64_t *) (void *) ((char *) c + place);
}

void counts_add(struct counts *sum, const struct counts *c)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        *at(sum, rows[i].place) += *at(c, rows[i].place);
    for (size_t i = 0; i < INVARIANT_COUNT; i++)
        sum->tried[i] += c->tried[i];
}

char *counts_text(const struct counts *c)
{
    struct buf b = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (*at(c, rows[i].place))
            buf_printf(&b, "%s%" PRIu64 " %s", b.len ? ", " : "", *at(c, rows[i].place), rows[i].text);
    return buf_take(&b);
}
