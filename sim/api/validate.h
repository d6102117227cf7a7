/* Validation of objects, in the words of the API server. */
#ifndef OSTLER_SIM_API_VALIDATE_H
#define OSTLER_SIM_API_VALIDATE_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/refusal.h"
#include "sim/api/spot.h"

struct kind;

/* metadata: name, labels, annotations, owners, finalizers. Skips trees that `before` has, too. */
void validate_metadata(const struct kind *k, const json_t *before, const json_t *after,
                       struct refusal *r);

/* A written status: its numbers must not be negative. */
void validate_status(const json_t *before, const json_t *after, struct refusal *r);

/* Of one kind each; `before` NULL: a create. */
void validate_node(const json_t *before, const json_t *after, struct refusal *r);
void validate_pod(const json_t *before, const json_t *after, struct refusal *r);
void validate_config_map(const json_t *before, const json_t *after, struct refusal *r);
void validate_service(const json_t *before, const json_t *after, struct refusal *r);
/* An Event written as core/v1, and one written as events.k8s.io/v1, both as they are stored. */
void validate_core_event(const json_t *before, const json_t *after, struct refusal *r);
void validate_event(const json_t *before, const json_t *after, struct refusal *r);
void validate_controller_revision(const json_t *before, const json_t *after, struct refusal *r);
void validate_daemon_set(const json_t *before, const json_t *after, struct refusal *r);
void validate_deployment(const json_t *before, const json_t *after, struct refusal *r);
void validate_replica_set(const json_t *before, const json_t *after, struct refusal *r);
void validate_job(const json_t *before, const json_t *after, struct refusal *r);
void validate_lease(const json_t *before, const json_t *after, struct refusal *r);
void validate_runtime_class(const json_t *before, const json_t *after, struct refusal *r);
void validate_pod_disruption_budget(const json_t *before, const json_t *after, struct refusal *r);
void validate_priority_class(const json_t *before, const json_t *after, struct refusal *r);

/* ---- parts that several kinds have; `at` is where they are */

/* A pod's spec. */
void validate_pod_spec(const json_t *spec, const struct spot *at, struct refusal *r);
/* One container; the keys of `volumes` are the names of the pod's. */
void validate_container(const json_t *container, const json_t *volumes, const struct spot *at,
                        struct refusal *r);
/* A node selector with its terms. */
void validate_node_selector(const json_t *selector, const struct spot *at, struct refusal *r);
/* A list of tolerations. */
void validate_tolerations(const json_t *tolerations, const struct spot *at, struct refusal *r);
/* A LabelSelector. */
void validate_label_selector(const json_t *selector, const struct spot *at, struct refusal *r);
/* Keys and values of a map of labels; `at` is the map. */
void validate_labels(const json_t *labels, const struct spot *at, struct refusal *r);

/* ---- names, and keys and values of labels */

/* Each adds causes if the text is invalid. */
void validate_subdomain(const char *name, const struct spot *at, struct refusal *r);
/* `undotted`: a name that is valid but for its dots gets a message about dots. */
void validate_dns_label(const char *name, bool undotted, const struct spot *at, struct refusal *r);
/* A name with an optional prefix, as keys of labels have it: "example.com/name". */
void validate_qualified_name(const char *name, const struct spot *at, struct refusal *r);
/* Whether a text has n letters, digits, '-', '_' and '.', with a letter or digit at both ends. */
bool validate_is_word(const char *s, size_t n);
/* A label's value: at most 63 bytes; may be empty. */
void validate_label_value(const char *value, const struct spot *at, struct refusal *r);
/* The name of a port: at most 15 letters, digits and hyphens. */
void validate_port_name(const char *name, const struct spot *at, struct refusal *r);

/* ---- single values, which many kinds have; an absent value is valid */

/* The member `key` of `object`, a number, is at least 0. */
void validate_not_negative(const json_t *object, const char *key, const struct spot *at,
                           struct refusal *r);
/* The same for several members; `keys` is NULL-terminated. */
void validate_none_negative(const json_t *object, const char *const *keys, const struct spot *at,
                            struct refusal *r);
/* A port's number is from 1 to 65535. */
void validate_port(const json_t *number, const struct spot *at, struct refusal *r);
/* The member is one of a NULL-terminated set of words. */
void validate_word(const json_t *object, const char *key, const char *const *words,
                   const struct spot *at, struct refusal *r);
/* A number that is not negative, or a percentage of at most 100. */
void validate_amount(const json_t *value, const struct spot *at, struct refusal *r);
/* A field that must not change. */
void validate_immutable(const json_t *before, const json_t *after, const char *key,
                        const struct spot *at, struct refusal *r);
/* The member, a text, must not be empty. */
void validate_required(const json_t *object, const char *key, const struct spot *at,
                       struct refusal *r);
/* The same for one that must be a DNS label. */
void validate_required_label(const json_t *object, const char *key, const struct spot *at,
                             struct refusal *r);
/* A member that is the number or the name of a port. */
void validate_port_reference(const json_t *object, const char *key, const struct spot *at,
                             struct refusal *r);
/* An amount of a resource: not negative, and an integer if the resource has `whole` pieces. */
void validate_quantity(const json_t *amount, bool whole, const struct spot *at, struct refusal *r);

/* Whether a text is new; `seen`, a JSON object, records it. */
bool validate_first(json_t *seen, const char *text);
/* The same for any value. */
bool validate_first_value(json_t *seen, const json_t *value);
/* Whether an amount is zero, "0%" or invalid. */
bool validate_is_nothing(const json_t *amount);

#endif
