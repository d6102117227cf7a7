#include "sim/api/merge_type.h"

#include <string.h>

#include "base/str.h"
#include "sim/api/kind.h"

/* The types of fields without a row. */
static const struct merge_type plain = { .how = MERGE_FIELDS };
static const struct merge_type without_schema = { .how = MERGE_FREE };

const struct merge_root *merge_root_of(const struct kind *k)
{
    for (size_t i = 0; i < merge_roots_len; i++)
        if (str_eq(merge_roots[i].kind, k->kind) && str_eq(merge_roots[i].group, k->group))
            return &merge_roots[i];
    return NULL;
}

const struct merge_type *merge_type_field(const struct merge_type *t, const char *name)
{
    if (t->how == MERGE_FREE)
        return &without_schema;
    for (const struct merge_type *f = t->fields; f && f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return &plain;
}

struct merge_type merge_type_item(const struct merge_type *t)
{
    return (struct merge_type){ .how = t->whole_items ? MERGE_ATOMIC : MERGE_FIELDS,
                                .fields = t->fields };
}

bool merge_type_is_leaf(const struct merge_type *t, const json_t *value)
{
    switch (t->how) {
    case MERGE_FIELDS:
    case MERGE_MAP:
    case MERGE_FREE:
        return !json_is_object(value);
    case MERGE_SET:
    case MERGE_LIST:
        return !json_is_array(value);
    case MERGE_ATOMIC:
    case MERGE_SCALAR:
    case MERGE_UNOWNED:
        return true;
    }
    return true;
}
