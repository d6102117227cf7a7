/* Reads objects of Kubernetes' own kinds as the API server does: without unknown fields, nulls and
 * empty lists, and with defaults. */
#ifndef OSTLER_SIM_API_TYPED_H
#define OSTLER_SIM_API_TYPED_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/types.h"

/* The problems of reading; zero-initialised = none. */
struct typed_problems {
    char *wrong_type; /* "json: cannot unmarshal …": the object cannot be read; owned */
    json_t *unknown;  /* paths of unknown fields, NULL if there are none; owned */
};

/* Reads an object. The result shares unchanged parts with `object`; trees that `before` (may be
 * NULL) has, too, were read already and are skipped. New reference; NULL with problems->wrong_type.
 */
json_t *typed_read(const struct type *t, const json_t *before, const json_t *object,
                   struct typed_problems *problems);
/* What Go's decoder calls a value: "object", "array", "string", "number", "bool" or "null". */
const char *typed_word(const json_t *value);
/* Frees what it owns. */
void typed_problems_clear(struct typed_problems *p);

#endif
