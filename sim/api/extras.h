/* Lists as tables of text. */
#ifndef OSTLER_SIM_API_EXTRAS_H
#define OSTLER_SIM_API_EXTRAS_H

#include <jansson.h>
#include <stdbool.h>

struct api;
struct api_answer;
struct api_call;
struct kind;
struct refusal;

/* The form of objects in an answer: plain, or rows of a table with none, some or all of each
 * object. */
enum table_form { TABLE_NOT, TABLE_ALONE, TABLE_WITH_METADATA, TABLE_WITH_OBJECTS };
/* Parses includeObject of a query ("": absent); -1 and 400 if it is invalid. */
int table_form_parse(const char *include, enum table_form *ret, struct refusal *r);
/* A meta.k8s.io/v1 Table of an array of objects or of one object, as `kubectl get` prints it: ages
 * are those of now. List metadata (resourceVersion, continue) are the caller's matter. New
 * reference. */
json_t *table_of(const struct api *api, const struct kind *k, enum table_form form, json_t *objects,
                 bool is_list);

#endif
