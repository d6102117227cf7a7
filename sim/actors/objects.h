/* Helpers to read and write common parts of objects. */
#ifndef OSTLER_SIM_ACTORS_OBJECTS_H
#define OSTLER_SIM_ACTORS_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "sim/actors/actor.h"
#include "sim/actors/fit.h"

/* "namespace/name". Owned by the caller. */
char *object_key(const json_t *object);
/* The object of such a key (without a namespace: its name), or NULL. Borrowed until the next
 * write. */
json_t *object_of_key(const struct actors *a, const struct kind *k, const char *key);
/* The virtual wall time as metav1.Time. */
void actors_now(const struct actors *a, char out[static CLOCK_TEXT_MAX]);
/* A timestamp of an object in virtual ms; -1: none. */
int64_t actors_ms_of(const struct actors *a, const char *rfc3339);

/* Whether it has been ready for that long. `ret_at_ms` (may be NULL) receives when it will be; -1:
 * not by waiting alone. */
bool pod_is_available(const struct actors *a, const json_t *pod, int64_t min_ready_s,
                      int64_t *ret_at_ms);
/* Orders pods by creation time, then name: <0, 0, >0. */
int pod_compare_age(const json_t *a, const json_t *b);

/* The pods of a namespace that a LabelSelector matches. New reference. */
json_t *pods_selected(const struct actors *a, const char *ns, const json_t *selector);

/* A controller reference to `owner`. New reference. */
json_t *owner_reference(const struct kind *k, const json_t *owner);
bool is_controlled_by(const json_t *object, const char *uid);
/* Removes a finalizer from an object of this uid. */
void object_drop_finalizer(struct actors *a, const char *user, const struct kind *k,
                           const json_t *object, const char *finalizer);
/* Changes a node's spec by a merge patch, from the version that was read; `r` may be NULL. */
int node_set_spec(struct actors *a, const char *user, const json_t *node, json_t *spec_steal,
                  struct refusal *r);
/* Deletes a pod of this uid; `grace_s` as in api_delete(). */
void pod_delete(struct actors *a, const char *user, const json_t *pod, int grace_s);
/* Adopts an object by adding the reference, or releases it by removing that of `uid`. */
int object_adopt(struct actors *a, const char *user, const struct kind *k, const json_t *object,
                 json_t *reference_steal);
int object_release(struct actors *a, const char *user, const struct kind *k, const json_t *object,
                   const char *uid);

/* A list of conditions with one of them set; lastTransitionTime stays while its status is the same.
 * `message` NULL: none. New reference; the old list itself if nothing changes. */
json_t *conditions_with(const json_t *conditions, const char *type, const char *status,
                        const char *reason, const char *message, const char *now);
/* A pod from a template: generateName, owner, the template's labels and annotations, and its shared
 * spec. New reference; metadata may be changed. */
json_t *pod_of_template(const struct kind *k, const json_t *owner, const json_t *template);
/* A hash of a template for a label: short, of safe letters. */
void template_hash(const json_t *template, int64_t collisions, char out[static 16]);
/* An absolute number, or a percentage of `total`, rounded up or down. */
int64_t scaled_value(const json_t *int_or_percent, int64_t total, bool round_up, int64_t fallback);
/* Merges a patch into the object's status subresource, unless it says all that already. */
int object_set_status(struct actors *a, const char *user, const struct kind *k,
                      const json_t *object, json_t *status_steal);

#endif
