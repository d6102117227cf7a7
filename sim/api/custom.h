/* Custom kinds: there only while their CustomResourceDefinition is. */
#ifndef OSTLER_SIM_API_CUSTOM_H
#define OSTLER_SIM_API_CUSTOM_H

#include <jansson.h>
#include <stdbool.h>

struct api;
struct kind;

/* Whether requests for this kind are served: always for Kubernetes' own, for a custom kind while
 * its CustomResourceDefinition is in the store. */
bool custom_is_served(const struct api *api, const struct kind *k);
/* The CustomResourceDefinition of a custom kind; NULL when it is not there. Borrowed. */
const json_t *custom_definition(const struct api *api, const struct kind *k);
/* What that says of the kind's version: schema, printer columns. NULL when it is not there.
 * Borrowed. */
const json_t *custom_version(const struct api *api, const struct kind *k);

#endif
