/* What the API server's strategies and admission plugins change in objects before validation. */
#ifndef OSTLER_SIM_API_PREPARE_H
#define OSTLER_SIM_API_PREPARE_H

#include <jansson.h>

/* The annotation that counts the templates of a DaemonSet. */
#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

/* New objects; their top level and metadata may be changed. */
void prepare_new_node(json_t *object);
void prepare_new_pod(json_t *object);
void prepare_new_namespace(json_t *object);
void prepare_new_service(json_t *object);
void prepare_new_job(json_t *object);
void prepare_new_daemon_set(json_t *object);
/* Updates. */
void prepare_daemon_set(const json_t *before, json_t *object);
void prepare_service(const json_t *before, json_t *object);
void prepare_pod(const json_t *before, json_t *object);
void prepare_namespace(const json_t *before, json_t *object);

/* Adds the volume with a token of its ServiceAccount to a pod's spec, unless the pod wants none.
 * The volume's name follows from `salt`, such as the pod's name. */
struct draft;
void token_volume_add(struct draft *spec, const char *salt);

#endif
