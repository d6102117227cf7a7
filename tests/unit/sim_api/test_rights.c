#include "sim/api/access.h"
#include "tests/unit/sim_api/served.h"

#define PODS "/api/v1/namespaces/jobs/pods"
#define POD "{'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}"

/* A reader of pods and their evictor in one namespace, who may also make config maps by applying
 * them. */
static const char roles[] =
    "[{'kind': 'Role', 'metadata': {'name': 'r', 'namespace': 'jobs'}, 'rules': ["
    "  {'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get', 'list', 'watch']},"
    "  {'apiGroups': [''], 'resources': ['pods/eviction'], 'verbs': ['create']},"
    "  {'apiGroups': [''], 'resources': ['configmaps'], 'verbs': ['patch']},"
    "  {'apiGroups': [''], 'resources': ['namespaces'], 'verbs': ['get']},"
    "  {'apiGroups': ['coordination.k8s.io'], 'resources': ['leases'], 'verbs': ['update']}]},"
    " {'kind': 'RoleBinding', 'metadata': {'name': 'b', 'namespace': 'jobs'}, 'roleRef': {'kind': "
    "'Role', 'name': 'r'},"
    "  'subjects': [{'kind': 'User', 'name': 'reader'}]}]";

struct guarded {
    struct served s;
    struct access *access;
};

static void guarded_init(struct guarded *g)
{
    served_init(&g->s);
    served_expect(&g->s, "POST /api/v1/namespaces", "{'metadata': {'name': 'jobs'}}", 201);
    served_expect(&g->s, "POST " PODS, POD, 201);
    g->access = access_new();
    access_add_admin(g->access, "admin");
    CLEANUP_JSON json_t *objects = tree(roles);
    CLEANUP_ERR struct err e = { 0 };
    if (access_add_objects(g->access, objects, &e) < 0)
        fail_msg("%s", err_msg(&e));
    api_set_access(g->s.api, g->access);
    g->s.user = "reader";
}

static void guarded_clear(struct guarded *g)
{
    served_clear(&g->s);
    access_free(g->access);
}

static const struct row {
    const char *name;
    const char *request;
    const char *body;
    const char *refused; /* NULL: not forbidden */
} rows[] = {
    { "what may be read", "GET " PODS "/p", NULL, NULL },
    { "what may be listed", "GET " PODS, NULL, NULL },
    { "what may be watched", "GET " PODS "?watch=1", NULL, NULL },
    { "what may be evicted", "POST " PODS "/p/eviction", "{'metadata': {'name': 'p'}}", NULL },
    { "its own namespace", "GET /api/v1/namespaces/jobs", NULL, NULL },
    { "pods of all namespaces", "GET /api/v1/pods", NULL,
      "pods is forbidden: User \"reader\" cannot list resource \"pods\" in API group \"\" at the "
      "cluster scope" },
    { "pods of another namespace", "GET /api/v1/namespaces/default/pods?watch=true", NULL,
      "pods is forbidden: User \"reader\" cannot watch resource \"pods\" in API group \"\" in the "
      "namespace \"default\"" },
    { "another namespace", "GET /api/v1/namespaces/default", NULL,
      "namespaces \"default\" is forbidden: User \"reader\" cannot get resource \"namespaces\" in "
      "API group \"\" in the "
      "namespace \"default\"" },
    { "a deletion", "DELETE " PODS "/p", NULL,
      "pods \"p\" is forbidden: User \"reader\" cannot delete resource \"pods\" in API group \"\" "
      "in the namespace \"jobs\"" },
    { "a status", "PATCH " PODS "/p/status", "{}",
      "pods \"p\" is forbidden: User \"reader\" cannot patch resource \"pods/status\" in API group "
      "\"\" in the namespace "
      "\"jobs\"" },
    { "a kind of another group", "GET /apis/apps/v1/daemonsets", NULL,
      "daemonsets.apps is forbidden: User \"reader\" cannot list resource \"daemonsets\" in API "
      "group \"apps\" at the cluster "
      "scope" },
    { "a kind that is not there is forbidden first",
      "GET /apis/ostler.dev/v1alpha1/gpuclusterpolicies", NULL,
      "gpuclusterpolicies.ostler.dev is forbidden: User \"reader\" cannot list resource "
      "\"gpuclusterpolicies\" in API group "
      "\"ostler.dev\" at the cluster scope" },
    { "to apply what is not there takes the right to create",
      "PATCH apply /api/v1/namespaces/jobs/configmaps/c?fieldManager=me",
      "{'apiVersion': 'v1', 'kind': 'ConfigMap'}",
      "configmaps \"c\" is forbidden: User \"reader\" cannot create resource \"configmaps\" in API "
      "group \"\" in the namespace "
      "\"jobs\"" },
    { "so does a PUT that creates", "PUT /apis/coordination.k8s.io/v1/namespaces/jobs/leases/l",
      "{'metadata': {'name': 'l'}}",
      "leases.coordination.k8s.io \"l\" is forbidden: User \"reader\" cannot create resource "
      "\"leases\" in API group "
      "\"coordination.k8s.io\" in the namespace \"jobs\"" },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP(guarded_clear) struct guarded g;
    guarded_init(&g);
    served(&g.s, row->request, row->body);
    assert_int_equal(g.s.answer.status == 403, row->refused != NULL);
    if (row->refused)
        assert_string_equal(served_str(&g.s, "message"), row->refused);
}

static void check_others(void **state)
{
    (void) state;
    CLEANUP(guarded_clear) struct guarded g;
    guarded_init(&g);
    g.s.user = NULL;
    served_refused(&g.s, "GET /api/v1/nodes", NULL, 401, "Unauthorized", "Unauthorized");
    g.s.user = "admin";
    served_expect(&g.s, "DELETE " PODS "/p", NULL, 200);
    /* Actors are part of the cluster: nothing is forbidden to them. */
    assert_int_equal(
        api_delete(g.s.api, "actor", kind_named("namespaces"), "", "jobs", NULL, -1, NULL), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "no user, the admin, actors", check_others, NULL);
    return suite_run(&s, "sim_api/rights");
}
