/* RBAC: what roles allow, and what the project's chart allows Ostler. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/resource.h"
#include "sim/api/access.h"
#include "sim/api/builtin.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define OSTLER "system:serviceaccount:sys:ostler"

static const char roles[] = "[{'kind': 'ClusterRole', 'metadata': {'name': 'reader'}, 'rules': "
                            "[{'apiGroups': ['', 'apps'], 'resources': ['pods', "
                            "'nodes/status'], 'verbs': "
                            "['get', 'list']}]},"
                            " {'kind': 'ClusterRole', 'metadata': {'name': 'one'}, 'rules': "
                            "[{'apiGroups': [''], 'resources': ['nodes'], "
                            "'resourceNames': ['n1'], 'verbs': "
                            "['patch']}]},"
                            " {'kind': 'ClusterRole', 'metadata': {'name': 'all'}, 'rules': "
                            "[{'apiGroups': ['*'], 'resources': ['*'], 'verbs': ['*']}]},"
                            " {'kind': 'ClusterRole', 'metadata': {'name': 'evictor'}, 'rules': "
                            "[{'apiGroups': [''], 'resources': ['*/eviction'], "
                            "'verbs': ['create']}]},"
                            " {'kind': 'Role', 'metadata': {'name': 'writer', 'namespace': 'a'}, "
                            "'rules': [{'apiGroups': [''], 'resources': "
                            "['configmaps'], 'verbs': ['create']}]},"
                            " {'kind': 'ClusterRoleBinding', 'metadata': {'name': 'b1'}, "
                            "'roleRef': {'kind': 'ClusterRole', 'name': 'reader'}, "
                            "'subjects': [{'kind': 'User', 'name': "
                            "'ann'}]},"
                            " {'kind': 'ClusterRoleBinding', 'metadata': {'name': 'b2'}, "
                            "'roleRef': {'kind': 'ClusterRole', 'name': 'one'}, 'subjects': "
                            "[{'kind': 'User', 'name': "
                            "'ann'}]},"
                            " {'kind': 'RoleBinding', 'metadata': {'name': 'b3', 'namespace': "
                            "'a'}, 'roleRef': {'kind': 'Role', 'name': 'writer'}, "
                            "'subjects': [{'kind': "
                            "'ServiceAccount', 'name': 'bot'}]},"
                            " {'kind': 'RoleBinding', 'metadata': {'name': 'b4', 'namespace': "
                            "'a'}, 'roleRef': {'kind': 'ClusterRole', 'name': 'all'}, "
                            "'subjects': [{'kind': 'Group', "
                            "'name': 'system:serviceaccounts:c'}]},"
                            " {'kind': 'ClusterRoleBinding', 'metadata': {'name': 'b5'}, "
                            "'roleRef': {'kind': 'ClusterRole', 'name': 'evictor'}, "
                            "'subjects': [{'kind': 'Group', 'name': "
                            "'system:authenticated'}]},"
                            " {'kind': 'RoleBinding', 'metadata': {'name': 'b6', 'namespace': "
                            "'a'}, 'roleRef': {'kind': 'Role', 'name': 'absent'}, "
                            "'subjects': [{'kind': 'User', 'name': "
                            "'eve'}]}]";

static const struct row {
    const char *name;
    struct access_request q; /* user, verb, group, resource, subresource, namespace, name */
    bool want;
} rows[] = {
    { "a verb of a role", { "ann", "list", "", "pods", "", "x", "" }, true },
    { "in every namespace at once", { "ann", "list", "", "pods", "", "", "" }, true },
    { "another verb", { "ann", "watch", "", "pods", "", "x", "" }, false },
    { "another group", { "ann", "list", "batch", "pods", "", "x", "" }, false },
    { "another user", { "bob", "list", "", "pods", "", "x", "" }, false },
    { "a subresource by its own name", { "ann", "get", "", "nodes", "status", "", "n1" }, true },
    { "what has one is not allowed by that", { "ann", "get", "", "nodes", "", "", "n1" }, false },
    { "and the other way round", { "ann", "get", "", "pods", "status", "x", "p" }, false },
    { "one object", { "ann", "patch", "", "nodes", "", "", "n1" }, true },
    { "another object", { "ann", "patch", "", "nodes", "", "", "n2" }, false },
    { "no object in particular", { "ann", "patch", "", "nodes", "", "", "" }, false },
    { "a role of one namespace",
      { "system:serviceaccount:a:bot", "create", "", "configmaps", "", "a", "" },
      true },
    { "in another namespace",
      { "system:serviceaccount:a:bot", "create", "", "configmaps", "", "b", "" },
      false },
    { "the same account of another namespace",
      { "system:serviceaccount:b:bot", "create", "", "configmaps", "", "a", "" },
      false },
    { "everything, within a namespace",
      { "system:serviceaccount:c:x", "delete", "apps", "daemonsets", "", "a", "d" },
      true },
    { "everything, without",
      { "system:serviceaccount:c:x", "delete", "apps", "daemonsets", "", "", "" },
      false },
    { "a group's name is no prefix",
      { "system:serviceaccount:cc:x", "delete", "apps", "daemonsets", "", "a", "d" },
      false },
    { "a subresource of anything", { "bob", "create", "", "pods", "eviction", "x", "p" }, true },
    { "another one is not", { "bob", "create", "", "pods", "binding", "x", "p" }, false },
    { "a binding to a role that is not there",
      { "eve", "create", "", "configmaps", "", "a", "" },
      false },
    { "an admin may do everything", { "root", "delete", "x", "y", "z", "", "" }, true },
    { "what is taken away", { "ann", "get", "", "pods", "", "x", "p" }, false },
    { "is not taken from an admin", { "root", "get", "", "pods", "", "x", "p" }, true },
};

static struct access *access_of(void)
{
    struct access *a = access_new();
    CLEANUP_JSON json_t *objects = tree(roles);
    assert_int_equal(access_add_objects(a, objects, NULL), 0);
    access_add_admin(a, "root");
    access_deny(a, "get", "/pods");
    return a;
}

static void check(void **state)
{
    const struct row *row = *state;
    struct access *a = access_of();
    assert_int_equal(access_allows(a, &row->q), row->want);
    access_free(a);
}

static void check_without_roles(void **state)
{
    (void) state;
    struct access *a = access_new();
    const struct access_request q = { OSTLER, "list", "", "nodes", "", "", "" };
    assert_false(access_allows(a, &q));
    access_free(a);
}

static void check_broken(void **state)
{
    (void) state;
    struct access *a = access_new();
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *nameless = tree("[{'kind': 'Pod'}, {'kind': 'Role'}]");
    assert_int_equal(access_add_objects(a, nameless, &e), -1);
    assert_string_equal(err_msg(&e), "a Role has no name");
    CLEANUP_JSON json_t *loose = tree("[{'kind': 'RoleBinding', 'metadata': {'name': 'x'}}]");
    assert_int_equal(access_add_objects(a, loose, &e), -1);
    assert_string_equal(err_msg(&e), "RoleBinding x names no role");
    access_free(a);
}

/* ---- the chart */

/* Where Ostler writes and reads objects of a resource, when not everywhere. */
static const char *namespace_of(enum resource_id id, const char *verb)
{
    if (id == RESOURCE_LEASE)
        return "sys";
    if (id == RESOURCE_EVENT)
        return "default";
    return !resource_get(id)->namespaced ||
                   (id == RESOURCE_POD && !str_eq(verb, "create") && !str_eq(verb, "get"))
               ? ""
               : "ops";
}

/* The object that Ostler asks for, where the chart names one. */
static const char *name_of(enum resource_id id)
{
    switch ((int) id) {
    case RESOURCE_POLICY:
        return "default";
    case RESOURCE_RUNTIMECLASS:
        return "nvidia";
    case RESOURCE_LEASE:
        return "ostler";
    case RESOURCE_CRD:
        return "gpunodes.ostler.dev";
    case RESOURCE_NAMESPACE:
        return "ops";
    default:
        return "x";
    }
}

static size_t count_allowed(const struct access *a, enum resource_id id, const char *verbs,
                            const char *subresource)
{
    const struct resource *r = resource_get(id);
    size_t count = 0;
    CLEANUP_FREE char *copy = xstrdup(verbs);
    for (char *at = copy, *verb; (verb = strsep(&at, ",")) && *verb; count++) {
        struct access_request q = { .user = OSTLER,
                                    .verb = verb,
                                    .group = r->group,
                                    .resource = r->plural,
                                    .subresource = subresource,
                                    .ns = namespace_of(id, verb),
                                    .name = name_of(id) };
        if (!access_allows(a, &q))
            fail_msg("the chart does not allow %s %s/%s in \"%s\"", verb, r->plural, subresource,
                     q.ns);
        q.user = "system:serviceaccount:ops:ostler";
        assert_false(access_allows(a, &q));
    }
    return count;
}

/* Everything that Ostler does is allowed by the chart's roles as they are embedded. */
static void check_chart(void **state)
{
    (void) state;
    struct access *a = access_new();
    assert_int_equal(access_add_chart(a, "sys", "ops", NULL), 0);
    size_t count = 0;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        const struct resource *r = resource_get((enum resource_id) i);
        count += count_allowed(a, (enum resource_id) i, r->verbs, "");
        CLEANUP_FREE char *names = xstrdup(r->subresources), *verbs = xstrdup(r->subresource_verbs);
        for (char *name, *verb, *rest = names, *their = verbs;
             (name = strsep(&rest, ",")) && (verb = strsep(&their, ",")) && *name;)
            count += count_allowed(a, (enum resource_id) i, verb, name);
    }
    assert_true(count > 30);
    static const struct access_request forbidden[] = {
        { OSTLER, "delete", "", "nodes", "", "", "n" },
        { OSTLER, "create", "", "pods", "", "default", "p" },
        { OSTLER, "get", "", "pods", "log", "default", "p" },
        { OSTLER, "create", "", "pods", "exec", "ops", "p" },
        { OSTLER, "update", "", "nodes", "status", "", "n" },
        { OSTLER, "create", "apps", "daemonsets", "", "default", "" },
        { OSTLER, "get", "", "secrets", "", "sys", "s" },
        { OSTLER, "update", "coordination.k8s.io", "leases", "", "sys", "other" },
    };
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++)
        assert_false(access_allows(a, &forbidden[i]));
    access_free(a);
}

/* The definitions that are embedded are those of crds/. */
static void check_definitions(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *own = builtin_crds();
    assert_int_equal(json_array_size(own), 2);
    assert_string_equal(json_str(json_array_get(own, 0), "metadata.name"),
                        "gpuclusterpolicies.ostler.dev");
    assert_string_equal(json_str(json_array_get(own, 1), "metadata.name"), "gpunodes.ostler.dev");
    CLEANUP_JSON json_t *monitors = builtin_crd_of("servicemonitors");
    assert_string_equal(json_str(monitors, "spec.names.kind"), "ServiceMonitor");
    assert_null(builtin_crd_of("others"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "without roles a user may do nothing", check_without_roles, NULL);
    suite_add(&s, "roles without what they need are refused", check_broken, NULL);
    suite_add(&s, "the chart allows what Ostler does", check_chart, NULL);
    suite_add(&s, "definitions", check_definitions, NULL);
    return suite_run(&s, "access");
}
