/* Custom kinds: there only while their CustomResourceDefinition is. */
#ifndef OSTLER_SIM_API_CUSTOM_H
#define OSTLER_SIM_API_CUSTOM_H

#include <stdbool.h>

struct api;
struct kind;

/* Whether requests for this kind are served: always for Kubernetes' own, for a custom kind while its CustomResourceDefinition is in the store. */
bool custom_is_served(const struct api *api, const struct kind *k);

#endif
