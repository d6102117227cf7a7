/* Defaults that depend on other fields, one function for each of Kubernetes' own types. */
#ifndef OSTLER_SIM_API_COMPLETE_H
#define OSTLER_SIM_API_COMPLETE_H

struct draft;

/* Each completes an object of the type in its name. */
void complete_container(struct draft *d);
void complete_volume(struct draft *d);
void complete_image_volume_source(struct draft *d);
void complete_pod_spec(struct draft *d);
void complete_pod(struct draft *d);
void complete_daemon_set(struct draft *d);
void complete_daemon_set_spec(struct draft *d);
void complete_deployment_spec(struct draft *d);
void complete_job_spec(struct draft *d);
void complete_service_port(struct draft *d);
void complete_service_spec(struct draft *d);
void complete_namespace(struct draft *d);
void complete_node_spec(struct draft *d);
void complete_node_status(struct draft *d);
void complete_custom_resource_definition_spec(struct draft *d);

#endif
