/* metav1.Condition: reads conditions and carries lastTransitionTime over. */
#ifndef OSTLER_KUBE_CONDITION_H
#define OSTLER_KUBE_CONDITION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Longest condition message that Ostler writes, in bytes. */
enum { CONDITION_MESSAGE_MAX = 1024 };

/* One decided condition; text is borrowed. */
struct condition {
    const char *type;
    const char *status; /* "True", "False", "Unknown" */
    const char *reason; /* CamelCase, never empty */
    const char *message;
};

/* The condition of this type in a list, or NULL. Borrowed. */
const json_t *condition_find(const json_t *conditions, const char *type);
/* "True", "False", "Unknown", or "" if the condition is absent. */
const char *condition_status(const json_t *conditions, const char *type);
/* The condition of this type in an object's status, or NULL. Borrowed. */
const json_t *condition_of(const json_t *object, const char *type);
/* Whether that is "True". */
bool condition_is_true(const json_t *object, const char *type);
/* A condition as JSON. lastTransitionTime comes from `previous` (a list, may be NULL) while the
 * status is the same, otherwise from `now_text`. Cuts the message to CONDITION_MESSAGE_MAX. New
 * reference. */
json_t *condition_json(const struct condition *c, const json_t *previous, int64_t generation,
                       const char *now_text);

#endif
