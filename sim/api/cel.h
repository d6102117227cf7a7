/* The part of CEL, Kubernetes' language for rules of custom kinds, that the definitions of this
 * project use: fields, strings, numbers, lists, has(), size(), duration(), matches(), startsWith(),
 * all(), in, comparisons, and, or, not, ?:. What is beyond that does not compile. */
#ifndef OSTLER_SIM_API_CEL_H
#define OSTLER_SIM_API_CEL_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

struct cel;

/* NULL and ERR_INVALID, with the place in the text, when it is no rule or one that this part of CEL
 * cannot say. */
struct cel *cel_compile(const char *text, struct err *e);
/* Frees a rule. NULL is none. */
void cel_free(struct cel *c);
/* Whether the rule holds for `self`; -1 and ERR_INVALID when it cannot be said ("no such key: a"),
 * which counts as no. */
int cel_eval(const struct cel *c, const json_t *self, bool *ret_holds, struct err *e);

#endif
