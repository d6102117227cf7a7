/* Accessors for what every object of the API has. All results are borrowed from the object. */
#ifndef OSTLER_KUBE_OBJECT_H
#define OSTLER_KUBE_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* "" when absent. */
const char *object_name(const json_t *object);
const char *object_namespace(const json_t *object);
const char *object_uid(const json_t *object);
/* resourceVersion as a number for ordering within one resource (KEP-5504); 0 when it is not numeric: order unknown. */
uint64_t object_rv(const json_t *object);
/* A resourceVersion's text as a number, as above. */
uint64_t object_rv_parse(const char *text);
/* metadata.generation; 0 when absent, as for kinds that have none. */
int64_t object_generation(const json_t *object);
/* The value of a label or annotation, or NULL. */
const char *object_label(const json_t *object, const char *key);
/* NULL also when there is a NUL in it: half a text is none of ours. */
const char *object_annotation(const json_t *object, const char *key);
/* Whether its deletion was asked for: it has a deletionTimestamp. */
bool object_is_deleting(const json_t *object);
/* Whether this finalizer holds it. */
bool object_has_finalizer(const json_t *object, const char *finalizer);
/* The controller's owner reference, or NULL. */
const json_t *object_controller(const json_t *object);
/* metadata.managedFields without the entries of others who have set something under `spec`: what we did not put there. Others are
 * all but `manager` by server-side apply. NULL when there are no such entries. New reference. */
json_t *object_managers_without_foreign_spec(const json_t *object, const char *manager);

#endif
