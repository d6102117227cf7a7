/* Which objects a list or a watch shows: by namespace, labels and fields. */
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

/* Compiles the selectors of a query (NULL: none); -1 and 400 if one is invalid or names an
 * unsupported field. */
int filter_compile(const struct kind *k, const char *ns, const char *labels, const char *fields,
                   struct filter *ret, struct refusal *r);
/* Frees what it owns; it shows everything afterwards. */
void filter_clear(struct filter *f);
#define CLEANUP_FILTER CLEANUP(filter_clear)
/* Whether it shows a stored object; false for NULL. */
bool filter_matches(const struct filter *f, const json_t *object);
/* Whether it has selectors: then the number of its objects is unknown. */
bool filter_selects(const struct filter *f);

/* Compiles a label selector of a query: "a=b,c in (d,e),!f"; "" matches everything. -1 and 400, in
 * the words of the API server, if it is invalid. Comparisons of numbers (a>1) are rejected: none of
 * the program's clients uses them. */
int label_text_compile(const char *text, struct selector *ret, struct refusal *r);

#endif
