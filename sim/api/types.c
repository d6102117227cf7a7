#include "sim/api/types.h"

#include "base/str.h"
#include "sim/api/kind.h"

const struct type *type_of_kind(const struct kind *k)
{
    for (size_t i = 0; i < kind_types_len; i++)
        if (str_eq(kind_types[i].type->name, k->kind) && str_eq(kind_types[i].group, k->group))
            return kind_types[i].type;
    return NULL;
}

const struct field *type_field(const struct type *t, const char *name)
{
    for (const struct field *f = t->fields; f->name; f++)
        if (str_eq(f->name, name))
            return f;
    return NULL;
}
