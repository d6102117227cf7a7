/* The groups and kinds that are served now, as discovery tells them: group by group, or all in one
 * document. */
#ifndef OSTLER_SIM_API_GROUPS_H
#define OSTLER_SIM_API_GROUPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/api/kind.h"

struct api;

/* The Kubernetes whose ways the server has. */
#define API_MINOR "36"
#define API_VERSION "v1." API_MINOR ".3"

/* The next kind that is served, at or after a place, of a group and version (NULL: any); NULL when
 * there is none. */
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

#endif
