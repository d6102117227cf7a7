/* metav1.Condition: reading them, and carrying lastTransitionTime over. */
#ifndef OSTLER_KUBE_CONDITION_H
#define OSTLER_KUBE_CONDITION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Longest message that we write into a condition, in bytes. */
enum { CONDITION_MESSAGE_MAX = 1024 };

/* One condition as decided; text is borrowed. */
struct condition {
    const char *type;
    const char *status; /* "True", "False", "Unknown" */
    const char *reason; /* CamelCase, never empty */
    const char *message;
};

/* The condition of a type in a list, or NULL. Borrowed. */
const json_t *condition_find(const json_t *conditions, const char *type);
/* "True", "False", "Unknown", or "" when the condition is absent. */
const char *condition_status(const json_t *conditions, const char *type);
/* A condition as JSON: lastTransitionTime is that of `previous` (a list, may be NULL) while the status is the same, `now_text`
 * otherwise; the message is cut to CONDITION_MESSAGE_MAX. New reference. */
json_t *condition_json(const struct condition *c, const json_t *previous, int64_t generation, const char *now_text);

#endif
