#include "reconcilers/model/operand.h"

#include <stddef.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/names.h"

/* A build may set other images with the compiler's -include. */
#ifndef OPERAND_IMAGE
#define OPERAND_IMAGE(id, repository, image, version)                                              \
    {                                                                                              \
        repository, image, version                                                                 \
    }
#endif
#define OPERAND_VARIABLES(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct operand_row operand_rows[] = {
#define OPERAND(row_id, row_name, row_section, fields, rules, ...)                                 \
    [OPERAND_##row_id] = {                                                                         \
        .id = OPERAND_##row_id, .name = row_name, .section = row_section, __VA_ARGS__              \
    },
#include "reconcilers/model/operand_rows.h"
    { .id = OPERAND_NONE },
};

_Static_assert(ARRAY_LEN(operand_rows) - 1 <= OPERANDS_MAX, "a set of operands has a bit for each");

const struct operand_row *operand_get(enum operand o)
{
    size_t last = ARRAY_LEN(operand_rows) - 1;
    return &operand_rows[(size_t) o < last ? (size_t) o : last];
}

const char *operand_name(enum operand o)
{
    return str_or_empty(operand_get(o)->name);
}

enum operand operand_parse(const char *name)
{
    for (const struct operand_row *o = operand_rows; name && o->section; o++)
        if (str_eq(o->name, name))
            return o->id;
    return OPERAND_NONE;
}

bool operand_is_of(const struct operand_row *o, enum tier tier)
{
    return o->class == OPERAND_CLASS_TIER && o->tier == tier;
}

const char *operand_tier_name(const struct operand_row *o)
{
    if (o->class == OPERAND_CLASS_TIER)
        return tiers[o->tier].name;
    return o->id == OPERAND_REMOVAL ? "removal" : NULL;
}

unsigned operands_of_tier(enum tier tier)
{
    unsigned bits = 0;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        bits |= operand_is_of(o, tier) ? 1u << o->id : 0;
    return bits;
}

unsigned operands_of_class(enum operand_class class)
{
    unsigned bits = 0;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        bits |= o->class == class ? 1u << o->id : 0;
    return bits;
}

const json_t *operand_inputs_of(const struct operand_row *o, const json_t *inputs)
{
    return o->member ? json_object_get(inputs, o->member) : inputs;
}

bool operand_is_in(const struct operand_row *o, const json_t *inputs)
{
    return operand_is_of(o, tier_parse(json_str(inputs, "tier"))) &&
           (!o->member || json_bool(operand_inputs_of(o, inputs), "enabled", false));
}
