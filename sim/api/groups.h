/* The served groups and kinds, as discovery shows them: one document for each group, or one for
 * all. */
#ifndef OSTLER_SIM_API_GROUPS_H
#define OSTLER_SIM_API_GROUPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/api/kind.h"

struct api;

/* The version of Kubernetes that the server simulates. */
#define API_MINOR "36"
#define API_VERSION "v1." API_MINOR ".3"

/* The next served kind of a group and version (NULL: any), at or after a place; NULL if there is
 * none. */
const struct kind *groups_next(const struct api *api, size_t *at, const char *group,
                               const char *version);
/* Whether a kind is the first of its group that is served. Each group has one version. */
bool groups_leads(const struct api *api, const struct kind *k);

/* Each a new reference. */
/* APIGroupList: all groups but the core. */
json_t *groups_list(const struct api *api);
/* APIGroup of a kind's group. */
json_t *groups_one(const struct kind *k);
/* APIResourceList of a group and version. */
json_t *groups_resources(const struct api *api, const char *group, const char *version);
/* APIGroupDiscoveryList: the core, or all other groups, with all that is in them. */
json_t *groups_aggregated(const struct api *api, bool core);

/* ---- OpenAPI v3 documents, as far as clients need them: the kinds, and the parameters of a patch
 */

#define OPENAPI_ROOT "/openapi/v3"

/* Adds the document of a kind's group and version to the index of documents. */
void openapi_index_add(json_t *paths, const struct kind *k);
/* A document without kinds. New reference. */
json_t *openapi_new(void);
/* Adds a kind to its document. `schema` of its objects, as its CustomResourceDefinition has it;
 * NULL: any object. */
void openapi_add(json_t *document, const struct kind *k, const json_t *schema);

#endif
