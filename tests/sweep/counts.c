#include "tests/sweep/counts.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

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

void field_set_add(struct field_set *set, size_t field)
{
    if (field < COUNTED_FIELDS)
        set->bits[field / 64] |= UINT64_C(1) << field % 64;
}

static void join(struct field_set *sum, const struct field_set *set)
{
    for (size_t i = 0; i < ARRAY_LEN(sum->bits); i++)
        sum->bits[i] |= set->bits[i];
}

static void intersect(struct field_set *both, const struct field_set *set)
{
    for (size_t i = 0; i < ARRAY_LEN(both->bits); i++)
        both->bits[i] &= set->bits[i];
}

static unsigned size(const struct field_set *set)
{
    unsigned n = 0;
    for (size_t i = 0; i < ARRAY_LEN(set->bits); i++)
        n += (unsigned) __builtin_popcountll(set->bits[i]);
    return n;
}

void counts_add(struct counts *sum, const struct counts *c)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        *at(sum, rows[i].place) += *at(c, rows[i].place);
    for (size_t i = 0; i < INVARIANT_COUNT; i++)
        sum->tried[i] += c->tried[i];
    sum->fields = c->fields > sum->fields ? c->fields : sum->fields;
    for (size_t i = 0; i < COUNTED_PHASES; i++)
        join(&sum->changed_in[i], &c->changed_in[i]);
    join(&sum->accepted, &c->accepted);
    join(&sum->refused, &c->refused);
}

/* How many fields were changed from every phase that was tried at all. */
static void add_fields(const struct counts *c, struct buf *b)
{
    struct field_set everywhere;
    unsigned phases = 0;
    memset(&everywhere, 0xff, sizeof everywhere);
    for (size_t i = 0; i < COUNTED_PHASES; i++)
        if (size(&c->changed_in[i])) {
            intersect(&everywhere, &c->changed_in[i]);
            phases++;
        }
    buf_printf(b,
               ", %u of %" PRIu64
               " fields changed from each of %u phases (a value of %u accepted, of %u refused)",
               phases ? size(&everywhere) : 0, c->fields, phases, size(&c->accepted),
               size(&c->refused));
}

char *counts_text(const struct counts *c)
{
    struct buf b = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (*at(c, rows[i].place))
            buf_printf(&b, "%s%" PRIu64 " %s", b.len ? ", " : "", *at(c, rows[i].place),
                       rows[i].text);
    if (c->fields)
        add_fields(c, &b);
    return buf_take(&b);
}
