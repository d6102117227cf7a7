/* Objects of Kubernetes' own kinds, read as the API server reads them: fields that it does not know
 * are left out, nulls and empty lists are nothing, and defaults stand where nothing was said. */
#ifndef OSTLER_SIM_API_TYPED_H
#define OSTLER_SIM_API_TYPED_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/types.h"

/* What goes wrong in reading; zero-initialised = nothing. */
struct typed_problems {
    char *wrong_type; /* "json: cannot unmarshal …": the object cannot be read; owned */
    json_t *unknown;  /* paths of fields that are left out, NULL when there are none; owned */
};

/* The object as it is understood; what needs no change is shared with `object`, and what is the
 * same tree as in `before` (may be NULL), which was read already, is not looked at. New reference;
 * NULL with problems->wrong_type. */
json_t *typed_read(const struct type *t, const json_t *before, const json_t *object,
                   struct typed_problems *problems);
/* What Go's decoder calls a value: "object", "array", "string", "number", "bool" or "null". */
const char *typed_word(const json_t *value);
/* Frees what it owns. */
void typed_problems_clear(struct typed_problems *p);

#endif
