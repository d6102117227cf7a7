/* Which fields of a status the API server knows, where its CustomResourceDefinition is older than this Ostler. Server-side apply
 * refuses a status that names any other field, as a whole. */
#ifndef OSTLER_RECONCILERS_MODEL_KNOWN_FIELDS_H
#define OSTLER_RECONCILERS_MODEL_KNOWN_FIELDS_H

#include <jansson.h>

/* The schema of the status that a CustomResourceDefinition has, of its first version. Borrowed from it; NULL: it has none. */
json_t *known_fields_of(const json_t *crd);
/* What of a value a schema knows; of lists and maps what each member may have. NULL: all is known. New reference. */
json_t *known_fields(const json_t *schema, json_t *value);

#endif
