/* RBAC: rules of roles as data, read from the project's own chart's templates once they are
 * rendered, or written by a test. */
#ifndef OSTLER_SIM_API_ACCESS_H
#define OSTLER_SIM_API_ACCESS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

struct access;

/* What somebody wants to do, in the terms of RBAC. */
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

/* No rules yet: nobody but admins may do anything. Owned by the caller. */
struct access *access_new(void);
/* Frees the rules. NULL is none. */
void access_free(struct access *a);
/* Whoever is in no binding may do nothing; this user may do everything. Copied. */
void access_add_admin(struct access *a, const char *user);
/* Adds ClusterRole, Role, ClusterRoleBinding and RoleBinding objects (others are left aside), as
 * YAML documents give them. */
int access_add_objects(struct access *a, const json_t *objects, struct err *e);
/* What the project's chart allows Ostler: its roles, for the user
 * "system:serviceaccount:<namespace>:ostler". Embedded at build time from the chart. */
int access_add_chart(struct access *a, const char *ns, const char *operand_namespace,
                     struct err *e);
/* Takes one (verb, resource) from everybody who is no admin: a hole for the RBAC matrix. `resource`
 * as "group/resource" or "group/resource/subresource"; in the core group it begins with the slash:
 * "/nodes". */
void access_deny(struct access *a, const char *verb, const char *resource);
/* Whether they allow it. */
bool access_allows(const struct access *a, const struct access_request *q);

#endif
