/* What Ostler needs in a cluster, embedded at build time by scripts/embed-cluster: the
 * CustomResourceDefinitions of crds/ (and that of ServiceMonitors), and the roles of the chart. */
#ifndef OSTLER_SIM_API_BUILTIN_H
#define OSTLER_SIM_API_BUILTIN_H

#include <jansson.h>

#include "base/err.h"

struct api;

/* YAML documents. In the roles, @RELEASE@ stands for the namespace of the release and @OPERANDS@
 * for that of the operands. */
extern const char builtin_definitions_text[];
extern const char builtin_roles_text[];

/* An array of the CustomResourceDefinition objects of crds/: what an admin installs before Ostler.
 * New reference. */
json_t *builtin_crds(void);
/* The definition of a custom kind by its plural; NULL if it is not built in. New reference. */
json_t *builtin_crd_of(const char *plural);
/* An array of the chart's ClusterRole, Role, ClusterRoleBinding and RoleBinding objects for these
 * namespaces. New reference. */
json_t *builtin_roles(const char *release_namespace, const char *operand_namespace);
/* Creates the namespaces (which may be the same) and the definitions as this user, like `helm
 * install`, but no rights. -1 with an error if one was refused. */
int builtin_install(struct api *api, const char *user, const char *release_namespace,
                    const char *operand_namespace, struct err *e);

#endif
