/* What a client asks of an API server besides objects: which kinds it has, their schemas, and lists
 * as tables of text. */
#ifndef OSTLER_SIM_API_EXTRAS_H
#define OSTLER_SIM_API_EXTRAS_H

#include <jansson.h>
#include <stdbool.h>

struct api;
struct api_answer;
struct api_call;
struct kind;
struct refusal;

/* Answers paths of no object: /api, /apis and below (groups, versions, resources), /openapi/…,
 * /version, /healthz, /livez, /readyz. False, with nothing written, where the path is none of
 * these. Custom kinds are listed only while custom_is_served() says so. */
bool discovery_serve(const struct api *api, const struct api_call *call, struct api_answer *ret);

/* How a client wants objects: as they are, or as rows of a table with none, some or all of each
 * object beside its row. */
enum table_form { TABLE_NOT, TABLE_ALONE, TABLE_WITH_METADATA, TABLE_WITH_OBJECTS };
/* By the includeObject of a query ("": not given); -1 and 400 for any other text. */
int table_form_parse(const char *include, enum table_form *ret, struct refusal *r);
/* A meta.k8s.io/v1 Table of an array of objects or of one object, as `kubectl get` prints it: ages
 * are those of now. List metadata (resourceVersion, continue) are the caller's matter. New
 * reference. */
json_t *table_of(const struct api *api, const struct kind *k, enum table_form form, json_t *objects,
                 bool is_list);

#endif
