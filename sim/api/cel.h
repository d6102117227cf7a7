/* The part of CEL, Kubernetes' language for rules of custom kinds, that the definitions of this
 * project use: fields, strings, numbers, lists, has(), size(), duration(), matches(), startsWith(),
 * all(), in, comparisons, and, or, not, ?:. Anything else does not compile. */
#ifndef OSTLER_SIM_API_CEL_H
#define OSTLER_SIM_API_CEL_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

struct cel;

/* Compiles a rule. NULL and ERR_INVALID, with the column, if it is invalid or beyond this part of
 * CEL. */
struct cel *cel_compile(const char *text, struct err *e);
/* Frees a rule. NULL has no effect. */
void cel_free(struct cel *c);
/* Whether the rule holds for `self`. -1 and ERR_INVALID if it cannot be evaluated ("no such key:
 * a"); it then does not hold. */
int cel_eval(const struct cel *c, const json_t *self, bool *ret_holds, struct err *e);

#endif
