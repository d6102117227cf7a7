/* OpenAPI v3 documents, as much as clients need: which kinds there are, and which parameters a
 * patch of one takes. */
#ifndef OSTLER_SIM_API_OPENAPI_H
#define OSTLER_SIM_API_OPENAPI_H

#include <jansson.h>

#include "sim/api/kind.h"

#define OPENAPI_ROOT "/openapi/v3"

/* Adds the document of a kind's group and version to the index of documents. */
void openapi_index_add(json_t *paths, const struct kind *k);
/* A document without kinds. New reference. */
json_t *openapi_new(void);
/* Adds a kind to its document. `schema` of its objects, as its CustomResourceDefinition has it;
 * NULL: any object. */
void openapi_add(json_t *document, const struct kind *k, const json_t *schema);

#endif
