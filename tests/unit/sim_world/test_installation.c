/* The life of an installation: what Ostler stands on, two of them in one cluster, and its end. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/names.h"
#include "sim/api/access.h"
#include "sim/api/builtin.h"
#include "sim/world/process.h"
#include "tests/unit/support/suite.h"

enum { SETTLED_MS = 5000, LOOKED_AGAIN_MS = 12 * 1000, LEASE_MS = 20 * 1000, CLAIM_MS = 70 * 1000 };

/* A cluster of one GPU node, a policy, and up to two Ostlers. */
struct setting {
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct fault_plan faults;
    struct manifests *manifests;
    struct process *first, *second;
    /* the policy is changed when a request whose path ends so has reached the server; NULL: not
     * again */
    const char *edit_at;
    int deletions, late_deletions; /* that were sent, and of these while the first one held still */
};

static void create(struct setting *s, json_t *object_steal)
{
    CLEANUP_JSON json_t *object = object_steal;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_create(s->api, "admin",
                   kind_of(json_str(object, "apiVersion"), json_str(object, "kind")), object,
                   &r) < 0)
        fail_msg("%s", r.message);
}

/* A merge patch of an object in no namespace. */
static void change(struct setting *s, const char *plural, const char *name, json_t *patch_steal)
{
    CLEANUP_JSON json_t *patch = patch_steal;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_merge(s->api, "admin", kind_named(plural), NULL, name, "", patch, &r) < 0)
        fail_msg("%s", r.message);
}

static json_t *annotation(const char *key, const char *value)
{
    return json_pack("{s:{s:{s:s?}}}", "metadata", "annotations", key, value);
}

static json_t *label(const char *key, const char *value)
{
    return json_pack("{s:{s:{s:s?}}}", "metadata", "labels", key, value);
}

static void create_cluster(struct setting *s)
{
    static const char *const namespaces[] = { "ostler-system", "elsewhere", "ostler-operands" };
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
        create(s, json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                            "metadata", "name", namespaces[i]));
    size_t i;
    json_t *crd;
    CLEANUP_JSON json_t *crds = builtin_crds();
    json_array_foreach (crds, i, crd)
        create(s, json_incref(crd));
    create(s, json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:{s:s, s:s, s:s, s:s}}}", "apiVersion",
                        "v1", "kind", "Node", "metadata", "name", "gpu-1", "labels",
                        "feature.node.kubernetes.io/pci-0302_10de.present", "true", "status",
                        "nodeInfo", "osImage", "Ubuntu 24.04.1 LTS", "kernelVersion",
                        "6.8.0-49-generic", "containerRuntimeVersion", "containerd://2.1.4",
                        "architecture", "amd64"));
    create(s, json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:b}}}", "apiVersion", "ostler.dev/v1alpha1",
                        "kind", "GpuClusterPolicy", "metadata", "name", "default", "spec",
                        "toolkit", "enabled", 0));
}

static struct process *process(const struct setting *s, const char *name, const char *ns)
{
    return process_new(
        &(struct process_options){ .sim = (struct sim *) &s->sim,
                                   .wire = s->wire,
                                   .engine.manifests = s->manifests,
                                   .name = name,
                                   .user = "system:serviceaccount:ostler-system:ostler",
                                   .engine.lease_namespace = ns,
                                   .engine.operand_namespace = "ostler-operands",
                                   .engine.limits = { "nvcr.io/nvidia", "*", NULL, true },
                                   .engine.absent_grace_ms = 600 * 1000,
                                   .restart_ms = -1,
                                   .engine.leader_elect = true });
}

/* `ostler cleanup`, in a namespace. */
static struct process *cleanup(const struct setting *s, const char *ns,
                               struct cleanup_wishes wishes)
{
    return process_new(
        &(struct process_options){ .sim = (struct sim *) &s->sim,
                                   .wire = s->wire,
                                   .engine.manifests = s->manifests,
                                   .name = "cleanup",
                                   .user = "system:serviceaccount:ostler-system:ostler",
                                   .engine.lease_namespace = ns,
                                   .engine.operand_namespace = "ostler-operands",
                                   .engine.limits = { "", "*", NULL, true },
                                   .restart_ms = -1,
                                   .engine.leader_elect = true,
                                   .engine.cleanup = true,
                                   .engine.wishes = wishes });
}

static bool works(const struct process *p)
{
    return process_engine(p) && engine_working(process_engine(p));
}

static void on_sent(void *arg, struct wire_client *c, const struct request *r)
{
    (void) c;
    struct setting *s = arg;
    s->deletions += request_deletes(r);
    s->late_deletions += request_deletes(r) && !works(s->first);
}

static void on_arrived(void *arg, struct wire_client *c, const struct request *r)
{
    (void) c;
    struct setting *s = arg;
    if (request_deletes(r) &&
        str_has_suffix(r->path, "/ostler-system/deployments/" DEPLOYMENT_NAME))
        process_stop(s->first);
    if (!s->edit_at || !str_has_suffix(r->path, s->edit_at))
        return;
    s->edit_at = NULL;
    change(s, "gpuclusterpolicies", "default",
           json_pack("{s:{s:{s:b}}}", "spec", "exporter", "enabled", 0));
}

static int set_up(void **state)
{
    struct setting *s = xcalloc(1, sizeof *s);
    log_setup(LOG_SILENT, false);
    sim_init(&s->sim, 1);
    s->faults = (struct fault_plan){ .rng = rng_of(1) };
    s->api = api_new(&s->sim.clock);
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .faults = &s->faults,
                                               .latency_min_ms = 1,
                                               .latency_max_ms = 20,
                                               .sent = on_sent,
                                               .arrived = on_arrived,
                                               .arg = s });
    s->manifests = manifests_new(NULL);
    create_cluster(s);
    s->first = process(s, "first", "ostler-system");
    s->second = process(s, "second", "elsewhere");
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct setting *s = *state;
    process_free(s->first);
    process_free(s->second);
    wire_free(s->wire);
    fault_plan_clear(&s->faults);
    sim_clear(&s->sim);
    api_free(s->api);
    manifests_free(s->manifests);
    free(s);
    return 0;
}

static void pass(struct setting *s, int64_t ms)
{
    sim_run_until(&s->sim, s->sim.now_ms + ms);
}

static const json_t *policy(const struct setting *s)
{
    return api_get(s->api, kind_named("gpuclusterpolicies"), NULL, "default");
}

static bool is_marked(const struct setting *s)
{
    return object_annotation(api_get(s->api, kind_named("nodes"), NULL, "gpu-1"), ANNOTATION_MARKS);
}

/* What the policy says, and the check of /readyz, too; `reason` NULL: nothing is wrong there. */
static void assert_says(const struct setting *s, const char *type, const char *status,
                        const char *reason, const char *words)
{
    const json_t *c = condition_find(json_at(policy(s), "status.conditions"), type);
    assert_string_equal(json_str_or_empty(c, "status"), status);
    CLEANUP_FREE char *why = engine_why_prerequisites_fail((void *) process_engine(s->first));
    if (!reason) {
        assert_null(why);
        return;
    }
    assert_string_equal(json_str_or_empty(c, "reason"), reason);
    assert_non_null(strstr(json_str_or_empty(c, "message"), words));
    assert_non_null(why);
    assert_true(str_has_prefix(why, reason));
    assert_non_null(strstr(why, words));
}

static void an_older_definition_stops_all_but_telling(void **state)
{
    struct setting *s = *state;
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, NULL));
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_false(works(s->first));
    assert_false(is_marked(s));
    assert_int_equal(api_count(s->api, kind_named("daemonsets")), 0);
    assert_says(s, "Stalled", "True", "CRDOutdated", CRD_POLICY);
    assert_says(s, "Ready", "False", "CRDOutdated", "kubectl apply --server-side");
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, "1000"));
    pass(s, LOOKED_AGAIN_MS);
    assert_true(works(s->first));
    assert_true(is_marked(s));
    assert_says(s, "Stalled", "False", NULL, NULL);
}

static void what_runs_stays_where_a_definition_grows_old(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_kill(s->first);
    size_t daemonsets = api_count(s->api, kind_named("daemonsets"));
    int64_t nodes = json_int(policy(s), "status.nodes.gpu", 0);
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, "0"));
    process_start(s->first);
    pass(s, LEASE_MS);
    assert_says(s, "Stalled", "True", "CRDOutdated", "schema 0");
    assert_true(is_marked(s));
    assert_int_equal(api_count(s->api, kind_named("daemonsets")), daemonsets);
    assert_int_equal(json_int(policy(s), "status.nodes.gpu", 0), nodes);
}

/* Nobody may approve it as if it were of the spec as it is now. */
static void a_plan_stays_that_of_its_spec(void **state)
{
    struct setting *s = *state;
    CLEANUP_JSON json_t *status = json_pack("{s:{s:i, s:{s:{s:s}}}}", "status",
                                            "observedGeneration", 1, "rollout", "plan", "hash",
                                            "0123456789");
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_merge(s->api, "admin", kind_named("gpuclusterpolicies"), NULL, "default", "status",
                  status, &r) < 0)
        fail_msg("%s", r.message);
    change(s, "gpuclusterpolicies", "default",
           json_pack("{s:{s:{s:b}}}", "spec", "exporter", "enabled", 0));
    assert_int_equal(object_generation(policy(s)), 2);
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, "0"));
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_says(s, "Stalled", "True", "CRDOutdated", "schema 0");
    assert_int_equal(json_int(policy(s), "status.observedGeneration", 0), 1);
}

static void an_older_definition_of_reports_stops_nothing(void **state)
{
    struct setting *s = *state;
    change(s, "customresourcedefinitions", CRD_GPU_NODE, annotation(ANNOTATION_SCHEMA, NULL));
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_true(works(s->first));
    assert_says(s, "Degraded", "True", "CRDOutdated", CRD_GPU_NODE);
    const json_t *stalled = condition_find(json_at(policy(s), "status.conditions"), "Stalled");
    assert_string_equal(json_str_or_empty(stalled, "status"), "False");
}

static void a_namespace_that_lets_no_driver_in_is_named(void **state)
{
    struct setting *s = *state;
    change(s, "namespaces", "ostler-operands",
           label("pod-security.kubernetes.io/enforce", "restricted"));
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_says(s, "Stalled", "True", "NamespaceRestricted",
                "kubectl label namespace ostler-operands");
    change(s, "namespaces", "ostler-operands",
           label("pod-security.kubernetes.io/enforce", "privileged"));
    pass(s, LOOKED_AGAIN_MS);
    assert_says(s, "Stalled", "False", NULL, NULL);
}

static void a_namespace_that_is_missing_is_named(void **state)
{
    struct setting *s = *state;
    api_delete(s->api, "admin", kind_named("namespaces"), NULL, "ostler-operands", NULL, 0, NULL);
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_says(s, "Stalled", "True", "NamespaceMissing",
                "kubectl create namespace ostler-operands");
    create(s, json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
                        "name", "ostler-operands"));
    pass(s, LEASE_MS);
    assert_true(is_marked(s));
    assert_says(s, "Stalled", "False", NULL, NULL);
}

static void a_server_that_is_too_old_is_named(void **state)
{
    struct setting *s = *state;
    api_set_minor(s->api, "29");
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_false(works(s->first));
    assert_false(is_marked(s));
    assert_int_equal(api_count(s->api, kind_named("daemonsets")), 0);
    assert_says(s, "Stalled", "True", "ApiServerTooOld", "Kubernetes v1.29.3");
    assert_says(s, "Ready", "False", "ApiServerTooOld", "needs 1.30");
    api_set_minor(s->api, "30");
    pass(s, LOOKED_AGAIN_MS);
    assert_true(is_marked(s));
    assert_says(s, "Stalled", "False", NULL, NULL);
}

/* From now on Ostler may do what the chart lets it do. Owned by the caller, who may take rights
 * away. */
static struct access *with_charts_rights(struct setting *s)
{
    struct access *access = access_new();
    access_add_chart(access, "ostler-system", "ostler-operands", NULL);
    api_set_access(s->api, access);
    return access;
}

/* Roles in a namespace go with it, so nothing there can be listed. */
static void a_namespace_that_is_missing_with_its_roles_is_named(void **state)
{
    struct setting *s = *state;
    struct access *access = with_charts_rights(s);
    access_deny(access, "list", "apps/daemonsets");
    api_delete(s->api, "admin", kind_named("namespaces"), NULL, "ostler-operands", NULL, 0, NULL);
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_false(works(s->first));
    assert_says(s, "Stalled", "True", "NamespaceMissing", "ostler-operands");
    access_free(access);
}

static void a_namespace_that_goes_with_its_roles_is_named(void **state)
{
    struct setting *s = *state;
    struct access *access = with_charts_rights(s);
    process_start(s->first);
    pass(s, SETTLED_MS);
    access_deny(access, "list", "apps/daemonsets");
    access_deny(access, "watch", "apps/daemonsets");
    api_delete(s->api, "admin", kind_named("namespaces"), NULL, "ostler-operands", NULL, 0, NULL);
    wire_gone(s->wire, kind_named("daemonsets"));
    pass(s, LOOKED_AGAIN_MS);
    assert_false(works(s->first));
    assert_says(s, "Stalled", "True", "NamespaceMissing", "ostler-operands");
    access_free(access);
}

/* A watch that is open is not closed by a right that goes: nothing but writes fails. */
static void a_namespace_that_goes_under_open_watches_is_named(void **state)
{
    static const char *const ours[] = { "apps/daemonsets", "apps/controllerrevisions", "services" };
    struct setting *s = *state;
    struct access *access = with_charts_rights(s);
    process_start(s->first);
    pass(s, SETTLED_MS);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        access_deny(access, "patch", ours[i]);
    api_delete(s->api, "admin", kind_named("namespaces"), NULL, "ostler-operands", NULL, 0, NULL);
    pass(s, LOOKED_AGAIN_MS);
    assert_says(s, "Stalled", "True", "NamespaceMissing", "ostler-operands");
    assert_says(s, "Ready", "False", "NamespaceMissing",
                "kubectl create namespace ostler-operands");
    assert_says(s, "Degraded", "True", "NamespaceMissing",
                "kubectl create namespace ostler-operands");
    access_free(access);
}

static void who_repairs_it_may_edit_the_policy_meanwhile(void **state)
{
    struct setting *s = *state;
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, NULL));
    process_start(s->first);
    pass(s, SETTLED_MS);
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, "1000"));
    s->edit_at = "/" CRD_GPU_NODE; /* what is asked for after the policies' */
    pass(s, LOOKED_AGAIN_MS);
    assert_null(s->edit_at);
    assert_true(works(s->first));
}

/* Of a plan that is on its way the rest is not begun. */
static void what_was_decided_is_not_begun_where_a_definition_grows_old(void **state)
{
    struct setting *s = *state;
    /* looked at again and again */
    change(s, "customresourcedefinitions", CRD_GPU_NODE, annotation(ANNOTATION_SCHEMA, NULL));
    process_start(s->first);
    pass(s, SETTLED_MS);
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, "0"));
    s->edit_at = "/version"; /* what is asked for before the policies' */
    pass(s, LOOKED_AGAIN_MS);
    assert_null(s->edit_at);
    assert_says(s, "Stalled", "True", "CRDOutdated", CRD_POLICY);
    assert_true(s->deletions);
    assert_int_equal(s->late_deletions, 0);
}

static void two_reasons_to_look_one_after_the_other_are_both_seen(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    wire_gone(s->wire, kind_named("gpuclusterpolicies"));
    pass(s, 300); /* it has just looked */
    change(s, "customresourcedefinitions", CRD_POLICY, annotation(ANNOTATION_SCHEMA, "0"));
    wire_gone(s->wire, kind_named("gpuclusterpolicies"));
    pass(s, LOOKED_AGAIN_MS);
    assert_says(s, "Stalled", "True", "CRDOutdated", CRD_POLICY);
}

static void what_it_may_not_look_at_is_named_and_stops_nothing(void **state)
{
    struct setting *s = *state;
    struct access *access = with_charts_rights(s);
    access_deny(access, "get", "apiextensions.k8s.io/customresourcedefinitions");
    process_start(s->first);
    pass(s, SETTLED_MS);
    CLEANUP_FREE char *why = engine_why_prerequisites_fail((void *) process_engine(s->first));
    assert_non_null(why);
    assert_non_null(strstr(why, "cannot get resource \"customresourcedefinitions\""));
    assert_true(works(s->first));
    access_free(access);
}

static void of_two_installations_one_acts(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_start(s->second);
    pass(s, LEASE_MS);
    assert_true(works(s->first));
    assert_false(works(s->second));
    CLEANUP_FREE char *why = engine_why_lease_fails((void *) process_engine(s->second));
    assert_non_null(why);
    assert_non_null(strstr(why, "namespace ostler-system"));
    assert_null(engine_why_lease_fails((void *) process_engine(s->first)));
}

static void another_installation_takes_over_when_the_first_is_gone(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_start(s->second);
    process_stop(s->first);
    pass(s, LEASE_MS);
    assert_false(works(s->second)); /* the first may only have been restarted */
    pass(s, CLAIM_MS);
    assert_true(works(s->second));
}

static void a_restart_keeps_the_cluster(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_start(s->second);
    process_stop(s->first);
    pass(s, SETTLED_MS);
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_true(works(s->first));
    pass(s, CLAIM_MS);
    assert_false(works(s->second));
}

static void assert_clean(const struct setting *s)
{
    assert_null(policy(s));
    assert_false(is_marked(s));
    assert_int_equal(api_count(s->api, kind_named("daemonsets")), 0);
    assert_int_equal(api_count(s->api, kind_named("controllerrevisions")), 0);
    assert_int_equal(api_count(s->api, kind_named("runtimeclasses")), 0);
}

/* Runs a cleanup to its end, or for so long; its exit code, -1: it has not ended. */
static int clean_up_in(struct setting *s, const char *ns, struct cleanup_wishes wishes, int64_t ms)
{
    struct process *p = cleanup(s, ns, wishes);
    process_start(p);
    pass(s, ms);
    int code = process_counts(p)->ends ? process_counts(p)->exit_code : -1;
    process_free(p);
    return code;
}

static int clean_up(struct setting *s, struct cleanup_wishes wishes, int64_t ms)
{
    return clean_up_in(s, "ostler-system", wishes, ms);
}

static const json_t *lease(const struct setting *s, const char *ns, const char *name)
{
    return api_get(s->api, kind_named("leases"), ns, name);
}

static void cleanup_leaves_the_work_to_the_ostler_that_runs(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ .delete_policy = true }, SETTLED_MS), 0);
    assert_clean(s);
    assert_true(works(s->first));
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ .delete_policy = true }, SETTLED_MS), 0);
    assert_non_null(lease(s, "ostler-system", LEASE_NAME));
    assert_non_null(lease(s, CLUSTER_LEASE_NAMESPACE, CLUSTER_LEASE_NAME));
}

/* What runs would make its leases anew. */
static void cleanup_ends_the_ostler_that_runs_and_takes_its_leases(void **state)
{
    struct setting *s = *state;
    create(s, json_pack(
                  "{s:s, s:s, s:{s:s, s:s}, s:{s:{s:{s:s}}, s:{s:{s:{s:s}}, s:{s:[{s:s, s:s}]}}}}",
                  "apiVersion", "apps/v1", "kind", "Deployment", "metadata", "name",
                  DEPLOYMENT_NAME, "namespace", "ostler-system", "spec", "selector", "matchLabels",
                  "a", "b", "template", "metadata", "labels", "a", "b", "spec", "containers",
                  "name", "ostler", "image", "ostler"));
    process_start(s->first);
    pass(s, SETTLED_MS);
    struct cleanup_wishes wishes = { .delete_policy = true, .delete_operator = true };
    assert_int_equal(clean_up(s, wishes, LEASE_MS), 0);
    assert_clean(s);
    assert_null(api_get(s->api, kind_named("deployments"), "ostler-system", DEPLOYMENT_NAME));
    assert_null(lease(s, "ostler-system", LEASE_NAME));
    assert_null(lease(s, CLUSTER_LEASE_NAMESPACE, CLUSTER_LEASE_NAME));
}

static void cleanup_does_the_work_where_no_ostler_runs(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_kill(s->first);
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ .delete_policy = true }, 2 * LEASE_MS),
                     0);
    assert_clean(s);
    assert_null(lease(s, "ostler-system", LEASE_NAME));
    assert_null(lease(s, CLUSTER_LEASE_NAMESPACE, CLUSTER_LEASE_NAME));
    /* The cluster is free at once. */
    process_start(s->second);
    pass(s, SETTLED_MS);
    assert_true(works(s->second));
}

static void cleanup_is_refused_beside_an_ostler_that_keeps_its_policy(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ 0 }, LEASE_MS + SETTLED_MS), 1);
    assert_true(is_marked(s));
}

static void cleanup_ends_when_its_time_is_over(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    change(s, "gpuclusterpolicies", "default",
           json_pack("{s:{s:[s, s]}}", "metadata", "finalizers", "ostler.dev/cleanup",
                     "example.com/theirs"));
    struct cleanup_wishes wishes = { .delete_policy = true, .timeout_ms = 30 * 1000 };
    assert_int_equal(clean_up(s, wishes, 29 * 1000), -1);
    assert_int_equal(clean_up(s, wishes, 35 * 1000), 1);
    assert_true(object_is_deleting(policy(s)));
    assert_true(works(s->first));
}

static void cleanup_takes_away_last_what_was_only_for_ostler(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    struct cleanup_wishes wishes = { .delete_policy = true,
                                     .delete_crds = true,
                                     .delete_namespace = true };
    assert_int_equal(clean_up(s, wishes, SETTLED_MS), 0);
    assert_false(is_marked(s));
    assert_null(api_get(s->api, kind_named("customresourcedefinitions"), NULL, CRD_POLICY));
    assert_null(api_get(s->api, kind_named("customresourcedefinitions"), NULL, CRD_GPU_NODE));
    assert_null(api_get(s->api, kind_named("namespaces"), NULL, "ostler-operands"));
}

static void cleanup_works_without_definitions(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_kill(s->first);
    change(s, "gpuclusterpolicies", "default", json_pack("{s:{s:n}}", "metadata", "finalizers"));
    api_delete(s->api, "admin", kind_named("customresourcedefinitions"), NULL, CRD_POLICY, NULL, 0,
               NULL);
    api_delete(s->api, "admin", kind_named("customresourcedefinitions"), NULL, CRD_GPU_NODE, NULL,
               0, NULL);
    assert_int_equal(clean_up(s,
                              (struct cleanup_wishes){ .delete_policy = true, .delete_crds = true },
                              2 * LEASE_MS),
                     0);
    assert_false(is_marked(s));
}

static void cleanup_says_which_right_it_lacks(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    struct access *access = with_charts_rights(s);
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ .delete_policy = true }, SETTLED_MS), 1);
    assert_non_null(policy(s));
    access_free(access);
}

/* Its policy is that of the one that acts. */
static void cleanup_of_an_idle_installation_touches_nothing(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_start(s->second);
    pass(s, SETTLED_MS);
    struct cleanup_wishes wishes = {
        .delete_policy = true, .delete_crds = true, .delete_namespace = true, .force = true
    };
    assert_int_equal(clean_up_in(s, "elsewhere", wishes, 2 * LEASE_MS), 0);
    assert_non_null(policy(s));
    assert_false(object_is_deleting(policy(s)));
    assert_null(object_annotation(policy(s), POLICY_FORCE_REMOVAL));
    assert_true(is_marked(s));
    assert_non_null(api_get(s->api, kind_named("customresourcedefinitions"), NULL, CRD_POLICY));
    assert_true(works(s->first));
    /* Its own lease may go, the claim is the other's. */
    process_kill(s->second);
    wishes.delete_operator = true;
    assert_int_equal(clean_up_in(s, "elsewhere", wishes, 2 * LEASE_MS), 0);
    assert_null(lease(s, "elsewhere", LEASE_NAME));
    assert_non_null(lease(s, CLUSTER_LEASE_NAMESPACE, CLUSTER_LEASE_NAME));
    assert_non_null(policy(s));
    /* Who wants it cleaned all the same has to hear that it is not. */
    assert_int_equal(clean_up_in(s, "elsewhere", (struct cleanup_wishes){ 0 }, 2 * LEASE_MS), 1);
    assert_true(is_marked(s));
}

static void cleanup_from_elsewhere_waits_for_the_end_of_a_claim(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_stop(s->first);
    pass(s, SETTLED_MS);
    assert_int_equal(
        clean_up_in(s, "elsewhere", (struct cleanup_wishes){ 0 }, CLAIM_MS + SETTLED_MS), 0);
    assert_false(is_marked(s));
}

static void cleanup_gives_up_where_the_policy_is_made_again(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    change(s, "gpuclusterpolicies", "default",
           json_pack("{s:{s:[s, s]}}", "metadata", "finalizers", "ostler.dev/cleanup",
                     "example.com/theirs"));
    struct process *p = cleanup(s, "ostler-system",
                                (struct cleanup_wishes){ .delete_policy = true });
    process_start(p);
    pass(s, SETTLED_MS);
    assert_true(object_is_deleting(policy(s)));
    change(s, "gpuclusterpolicies", "default", json_pack("{s:{s:n}}", "metadata", "finalizers"));
    create(s, json_pack("{s:s, s:s, s:{s:s}, s:{}}", "apiVersion", "ostler.dev/v1alpha1", "kind",
                        "GpuClusterPolicy", "metadata", "name", "default", "spec"));
    pass(s, SETTLED_MS);
    assert_int_equal(process_counts(p)->ends, 1);
    assert_int_equal(process_counts(p)->exit_code, 1);
    assert_false(object_is_deleting(policy(s)));
    process_free(p);
}

static void cleanup_with_force_needs_no_policy(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    create(s, json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:[{s:s, s:s, s:{s:{s:s}}}]}}",
                        "apiVersion", "v1", "kind", "Pod", "metadata", "name", "job", "namespace",
                        "elsewhere", "spec", "nodeName", "gpu-1", "containers", "name", "job",
                        "image", "job", "resources", "limits", "nvidia.com/gpu", "1"));
    process_stop(s->first);
    pass(s, SETTLED_MS);
    change(s, "gpuclusterpolicies", "default", json_pack("{s:{s:n}}", "metadata", "finalizers"));
    api_delete(s->api, "admin", kind_named("gpuclusterpolicies"), NULL, "default", NULL, 0, NULL);
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ .delete_policy = true }, 2 * LEASE_MS),
                     -1);
    assert_true(is_marked(s));
    assert_int_equal(
        clean_up(s, (struct cleanup_wishes){ .delete_policy = true, .force = true }, 2 * LEASE_MS),
        0);
    assert_false(is_marked(s));
}

/* What is installed while a definition goes would go with it. The server answers its deletion with
 * the whole of it. */
static void cleanup_waits_for_the_end_of_what_it_deletes(void **state)
{
    struct setting *s = *state;
    CLEANUP_FREE char *text = xasprintf("%0100000d", 0);
    change(s, "customresourcedefinitions", CRD_POLICY, annotation("example.com/long", text));
    change(s, "customresourcedefinitions", CRD_POLICY,
           json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/theirs"));
    process_start(s->first);
    pass(s, SETTLED_MS);
    struct cleanup_wishes wishes = { .delete_policy = true, .delete_crds = true };
    assert_int_equal(clean_up(s, wishes, SETTLED_MS), -1);
    assert_true(object_is_deleting(
        api_get(s->api, kind_named("customresourcedefinitions"), NULL, CRD_POLICY)));
    change(s, "customresourcedefinitions", CRD_POLICY,
           json_pack("{s:{s:n}}", "metadata", "finalizers"));
    assert_int_equal(clean_up(s, wishes, SETTLED_MS), 0);
}

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction check;
    } rows[] = {
        { "an older definition stops all but telling", an_older_definition_stops_all_but_telling },
        { "what runs stays where a definition grows old",
          what_runs_stays_where_a_definition_grows_old },
        { "a plan stays that of its spec", a_plan_stays_that_of_its_spec },
        { "an older definition of reports stops nothing",
          an_older_definition_of_reports_stops_nothing },
        { "a namespace that lets no driver in is named",
          a_namespace_that_lets_no_driver_in_is_named },
        { "a namespace that is missing is named", a_namespace_that_is_missing_is_named },
        { "a server that is too old is named", a_server_that_is_too_old_is_named },
        { "a namespace that is missing with its roles is named",
          a_namespace_that_is_missing_with_its_roles_is_named },
        { "a namespace that goes with its roles is named",
          a_namespace_that_goes_with_its_roles_is_named },
        { "a namespace that goes under open watches is named",
          a_namespace_that_goes_under_open_watches_is_named },
        { "who repairs it may edit the policy meanwhile",
          who_repairs_it_may_edit_the_policy_meanwhile },
        { "what was decided is not begun where a definition grows old",
          what_was_decided_is_not_begun_where_a_definition_grows_old },
        { "two reasons to look, one after the other, are both seen",
          two_reasons_to_look_one_after_the_other_are_both_seen },
        { "what it may not look at is named, and stops nothing",
          what_it_may_not_look_at_is_named_and_stops_nothing },
        { "of two installations one acts", of_two_installations_one_acts },
        { "another installation takes over when the first is gone",
          another_installation_takes_over_when_the_first_is_gone },
        { "a restart keeps the cluster", a_restart_keeps_the_cluster },
        { "cleanup leaves the work to the Ostler that runs",
          cleanup_leaves_the_work_to_the_ostler_that_runs },
        { "cleanup ends the Ostler that runs and takes its leases",
          cleanup_ends_the_ostler_that_runs_and_takes_its_leases },
        { "cleanup does the work where no Ostler runs",
          cleanup_does_the_work_where_no_ostler_runs },
        { "cleanup is refused beside an Ostler that keeps its policy",
          cleanup_is_refused_beside_an_ostler_that_keeps_its_policy },
        { "cleanup ends when its time is over", cleanup_ends_when_its_time_is_over },
        { "cleanup takes away last what was only for Ostler",
          cleanup_takes_away_last_what_was_only_for_ostler },
        { "cleanup works without definitions", cleanup_works_without_definitions },
        { "cleanup says which right it lacks", cleanup_says_which_right_it_lacks },
        { "cleanup of an idle installation touches nothing",
          cleanup_of_an_idle_installation_touches_nothing },
        { "cleanup from elsewhere waits for the end of a claim",
          cleanup_from_elsewhere_waits_for_the_end_of_a_claim },
        { "cleanup gives up where the policy is made again",
          cleanup_gives_up_where_the_policy_is_made_again },
        { "cleanup with force needs no policy", cleanup_with_force_needs_no_policy },
        { "cleanup waits for the end of what it deletes",
          cleanup_waits_for_the_end_of_what_it_deletes },
    };
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add_fixture(&s, rows[i].name, rows[i].check, set_up, tear_down);
    return suite_run(&s, "installation");
}
