/* RBAC as data: roles and bindings from the project's chart, or from a test. */
#ifndef OSTLER_SIM_API_ACCESS_H
#define OSTLER_SIM_API_ACCESS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

struct access;

/* A request in the terms of RBAC. */
struct access_request {
    const char *user; /* "system:serviceaccount:ostler-system:ostler" */
    /* "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection" */
    const char *verb;
    const char *group;       /* "" = core */
    const char *resource;    /* "nodes" */
    const char *subresource; /* "" = none */
    const char *ns;          /* "" = cluster-scoped or all namespaces */
    const char *name;        /* "" = none */
};

/* Without rules: only admins have rights. Owned by the caller. */
struct access *access_new(void);
/* Frees the rules. NULL has no effect. */
void access_free(struct access *a);
/* Adds a user who may do everything. Copied. */
void access_add_admin(struct access *a, const char *user);
/* Adds the ClusterRole, Role, ClusterRoleBinding and RoleBinding objects of an array; ignores
 * others. */
int access_add_objects(struct access *a, const json_t *objects, struct err *e);
/* Adds the roles of the project's chart, which are embedded at build time, for the user
 * "system:serviceaccount:<namespace>:ostler". */
int access_add_chart(struct access *a, const char *ns, const char *operand_namespace,
                     struct err *e);
/* Denies one verb on a resource to all but admins, for tests of missing rights. `resource` is
 * "group/resource" or "group/resource/subresource"; in the core group "/nodes". */
void access_deny(struct access *a, const char *verb, const char *resource);
/* Whether the rules allow a request. */
bool access_allows(const struct access *a, const struct access_request *q);

#endif
