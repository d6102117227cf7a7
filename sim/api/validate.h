/* What the API server finds wrong with objects, in its words. */
#ifndef OSTLER_SIM_API_VALIDATE_H
#define OSTLER_SIM_API_VALIDATE_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/refusal.h"
#include "sim/api/spot.h"

struct kind;

/* metadata: name, labels, annotations, owners, finalizers. What is the same tree as before is not
 * looked at. */
void validate_metadata(const struct kind *k, const json_t *before, const json_t *after,
                       struct refusal *r);

/* A status that is written: its numbers count something. */
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

#endif
