/* Accessors for the common fields of API objects. All results are borrowed from the object. */
#ifndef OSTLER_KUBE_OBJECT_H
#define OSTLER_KUBE_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* "" if absent. */
const char *object_name(const json_t *object);
const char *object_namespace(const json_t *object);
const char *object_uid(const json_t *object);
/* resourceVersion as a number, to order versions of one resource (KEP-5504); 0 if it is not
 * numeric: order unknown. */
uint64_t object_rv(const json_t *object);
/* Parses the text of a resourceVersion, as above. */
uint64_t object_rv_parse(const char *text);
/* metadata.generation; 0 if absent, as for kinds without one. */
int64_t object_generation(const json_t *object);
/* The value of a label or annotation, or NULL. */
const char *object_label(const json_t *object, const char *key);
/* NULL also if the value contains a NUL: Ostler never writes one. */
const char *object_annotation(const json_t *object, const char *key);
/* The time at a path, in seconds since 1970; 0 if it is absent or no RFC 3339 text in UTC. */
int64_t object_time_s(const json_t *object, const char *path);
/* Whether the object has a deletionTimestamp. */
bool object_is_deleting(const json_t *object);
/* Whether the object has this finalizer. */
bool object_has_finalizer(const json_t *object, const char *finalizer);
/* The controller's owner reference, or NULL. */
const json_t *object_controller(const json_t *object);
/* metadata.managedFields without the entries of other managers that set fields under `spec`. All
 * but `manager`'s server-side apply entries are others. NULL if there are no such entries. New
 * reference. */
json_t *object_managers_without_foreign_spec(const json_t *object, const char *manager);

#endif
