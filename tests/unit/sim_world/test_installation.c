/* What Ostler stands on, and two of them in one cluster. */
#include "kube/condition.h"
#include "tests/unit/sim_world/installation.h"

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
    struct setting *s = begun(state);
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

/* An admin must not approve it as if it were a plan of the current spec. */
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

/* The API server rejects a status with a field that its definition does not have. */
static void a_report_has_the_fields_of_an_older_definition(void **state)
{
    struct setting *s = *state;
    CLEANUP_JSON json_t *crd = json_deep_copy(
        api_get(s->api, kind_named("customresourcedefinitions"), NULL, CRD_GPU_NODE));
    json_object_del(json_object_get(known_fields_of(crd), "properties"), "since");
    change(s, "customresourcedefinitions", CRD_GPU_NODE,
           json_pack("{s:{s:{s:n}}, s:O}", "metadata", "annotations", ANNOTATION_SCHEMA, "spec",
                     json_object_get(crd, "spec")));
    process_start(s->first);
    pass(s, SETTLED_MS);
    const json_t *report = api_get(s->api, kind_named("gpunodes"), NULL, "gpu-1");
    assert_non_null(json_at(report, "status.state"));
    assert_null(json_at(report, "status.since"));
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
    create(s->api, json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                             "metadata", "name", "ostler-operands"));
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
    struct setting *s = begun(state);
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
    struct setting *s = begun(state);
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
    struct setting *s = begun(state);
    process_start(s->second);
    process_stop(s->first);
    pass(s, LEASE_MS);
    assert_false(works(s->second)); /* the first may only have been restarted */
    pass(s, CLAIM_MS);
    assert_true(works(s->second));
}

static void a_restart_keeps_the_cluster(void **state)
{
    struct setting *s = begun(state);
    process_start(s->second);
    process_stop(s->first);
    pass(s, SETTLED_MS);
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_true(works(s->first));
    pass(s, CLAIM_MS);
    assert_false(works(s->second));
}

int main(void)
{
    static const struct suite_check rows[] = {
        { "an older definition stops all but telling", an_older_definition_stops_all_but_telling },
        { "what runs stays where a definition grows old",
          what_runs_stays_where_a_definition_grows_old },
        { "a plan stays that of its spec", a_plan_stays_that_of_its_spec },
        { "an older definition of reports stops nothing",
          an_older_definition_of_reports_stops_nothing },
        { "a report has the fields of an older definition",
          a_report_has_the_fields_of_an_older_definition },
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
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, rows, set_up, tear_down);
    return suite_run(&s, "installation");
}
