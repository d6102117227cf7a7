/* Custom kinds, which exist only while their CustomResourceDefinition does. */
#ifndef OSTLER_SIM_API_CUSTOM_H
#define OSTLER_SIM_API_CUSTOM_H

#include <jansson.h>
#include <stdbool.h>

struct api;
struct kind;

/* Whether requests for this kind are served: for a custom kind, while its CustomResourceDefinition
 * is in the store. */
bool custom_is_served(const struct api *api, const struct kind *k);
/* The CustomResourceDefinition of a custom kind; NULL if it does not exist. Borrowed. */
const json_t *custom_definition(const struct api *api, const struct kind *k);
/* The kind's version in it, with schema and printer columns. NULL if it does not exist. Borrowed.
 */
const json_t *custom_version(const struct api *api, const struct kind *k);

#endif
