/* Which fields of a status the API server accepts if its CustomResourceDefinition is older than
 * this Ostler. Server-side apply rejects the whole status if it names an unknown field. */
#ifndef OSTLER_RECONCILERS_MODEL_KNOWN_FIELDS_H
#define OSTLER_RECONCILERS_MODEL_KNOWN_FIELDS_H

#include <jansson.h>

/* The status schema in the first version of a CustomResourceDefinition. Borrowed; NULL: none. */
json_t *known_fields_of(const json_t *crd);
/* Copies the fields of a value that the schema has, also inside lists and maps. NULL schema: all
 * fields. New reference. */
json_t *known_fields(const json_t *schema, json_t *value);

#endif
