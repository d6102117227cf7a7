/* Which objects a list or a watch shows: a namespace, labels and fields. */
#ifndef OSTLER_SIM_API_FILTER_H
#define OSTLER_SIM_API_FILTER_H

#include <jansson.h>
#include <stdbool.h>

#include "kube/selector.h"
#include "sim/api/kind.h"
#include "sim/api/refusal.h"

struct filter_field;

/* Zero-initialised = everything. */
struct filter {
    char *ns; /* NULL: all */
    struct selector labels;
    struct filter_field *fields;
    size_t field_count;
};

/* Compiles the selectors of a query (NULL: none); -1 and 400 when one is none, or names a field
 * that this kind is not selected by. */
int filter_compile(const struct kind *k, const char *ns, const char *labels, const char *fields,
                   struct filter *ret, struct refusal *r);
/* Frees what it owns; it shows everything afterwards. */
void filter_clear(struct filter *f);
#define CLEANUP_FILTER CLEANUP(filter_clear)
/* Whether it shows an object, as it is stored; NULL is no object. */
bool filter_matches(const struct filter *f, const json_t *object);
/* Whether it has selectors, so that it is not known how many objects it leaves. */
bool filter_selects(const struct filter *f);

#endif
