/* The end of an installation: `ostler cleanup`. */
#include "tests/unit/sim_world/installation.h"

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
                                   .engine.cluster.operand_namespace = "ostler-operands",
                                   .engine.cluster.limits = { "", "*", NULL, true, true },
                                   .restart_ms = -1,
                                   .engine.leader_elect = true,
                                   .engine.cleanup = true,
                                   .engine.wishes = wishes });
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
    struct setting *s = begun(state);
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
    create(
        s->api,
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:{s:s}}, s:{s:{s:{s:s}}, s:{s:[{s:s, s:s}]}}}}",
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
    struct setting *s = begun(state);
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
    struct setting *s = begun(state);
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ 0 }, LEASE_MS + SETTLED_MS), 1);
    assert_true(is_marked(s));
}

static void cleanup_ends_when_its_time_is_over(void **state)
{
    struct setting *s = begun(state);
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
    struct setting *s = begun(state);
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
    struct setting *s = begun(state);
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
    struct setting *s = begun(state);
    struct access *access = with_charts_rights(s);
    assert_int_equal(clean_up(s, (struct cleanup_wishes){ .delete_policy = true }, SETTLED_MS), 1);
    assert_non_null(policy(s));
    access_free(access);
}

/* Its policy is that of the one that acts. */
static void cleanup_of_an_idle_installation_touches_nothing(void **state)
{
    struct setting *s = begun(state);
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
    struct setting *s = begun(state);
    process_stop(s->first);
    pass(s, SETTLED_MS);
    assert_int_equal(
        clean_up_in(s, "elsewhere", (struct cleanup_wishes){ 0 }, CLAIM_MS + SETTLED_MS), 0);
    assert_false(is_marked(s));
}

static void cleanup_gives_up_where_the_policy_is_made_again(void **state)
{
    struct setting *s = begun(state);
    change(s, "gpuclusterpolicies", "default",
           json_pack("{s:{s:[s, s]}}", "metadata", "finalizers", "ostler.dev/cleanup",
                     "example.com/theirs"));
    struct process *p = cleanup(s, "ostler-system",
                                (struct cleanup_wishes){ .delete_policy = true });
    process_start(p);
    pass(s, SETTLED_MS);
    assert_true(object_is_deleting(policy(s)));
    change(s, "gpuclusterpolicies", "default", json_pack("{s:{s:n}}", "metadata", "finalizers"));
    create(s->api, json_pack("{s:s, s:s, s:{s:s}, s:{}}", "apiVersion", "ostler.dev/v1alpha1",
                             "kind", "GpuClusterPolicy", "metadata", "name", "default", "spec"));
    pass(s, SETTLED_MS);
    assert_int_equal(process_counts(p)->ends, 1);
    assert_int_equal(process_counts(p)->exit_code, 1);
    assert_false(object_is_deleting(policy(s)));
    process_free(p);
}

static void cleanup_with_force_needs_no_policy(void **state)
{
    struct setting *s = begun(state);
    create(s->api,
           json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:[{s:s, s:s, s:{s:{s:s}}}]}}", "apiVersion",
                     "v1", "kind", "Pod", "metadata", "name", "job", "namespace", "elsewhere",
                     "spec", "nodeName", "gpu-1", "containers", "name", "job", "image", "job",
                     "resources", "limits", "nvidia.com/gpu", "1"));
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
    static const struct suite_check rows[] = {
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
    SUITE_CHECKS(&s, rows, set_up, tear_down);
    return suite_run(&s, "cleanup");
}
