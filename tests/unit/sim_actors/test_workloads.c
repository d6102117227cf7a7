/* ReplicaSets, Deployments and PodDisruptionBudgets. */
#include "tests/unit/sim_actors/little_world.h"

enum { MINUTE_MS = 60 * 1000 };

#define TEMPLATE(image)                                                                            \
    "'selector': {'matchLabels': {'app': 'web'}}, 'template': {'metadata': {'labels': {'app': "    \
    "'web'}}, 'spec': {'containers': "                                                             \
    "[{'name': 'main', 'image': '" image "'}]}}"

static void begin(struct little *w, const char *plural, const char *spec)
{
    little_init(w, 3);
    little_begin(w);
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata': {'name': 'web', 'namespace': 'default'}, 'spec': {%s}}", spec);
    little_create(w, plural, text);
    little_pass(w, MINUTE_MS);
}

static int64_t number(const struct little *w, const char *plural, const char *field)
{
    return json_int(json_at(little_get(w, plural, "default", "web"), "status"), field, 0);
}

static void replicas(void **state)
{
    (void) state;
    struct little w;
    begin(&w, "replicasets", "'replicas': 3, " TEMPLATE("web:1"));
    assert_int_equal(little_ready(&w, "web"), 3);
    assert_int_equal(number(&w, "replicasets", "readyReplicas"), 3);
    little_delete(&w, "pods", "default", object_name(little_pod(&w, "web", NULL)));
    little_pass(&w, MINUTE_MS);
    assert_int_equal(little_ready(&w, "web"), 3);
    little_merge(&w, "replicasets", "default", "web", "{'spec': {'replicas': 1}}");
    little_pass(&w, MINUTE_MS);
    assert_int_equal(little_count(&w, "pods", "app", "web"), 1);
    assert_int_equal(number(&w, "replicasets", "availableReplicas"), 1);
    little_end(&w);
}

/* As many at once as a real one makes, and the rest afterwards. */
static void many_replicas(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 3);
    little_begin(&w);
    little_create(
        &w, "replicasets",
        "{'metadata': {'name': 'web', 'namespace': 'default'}, 'spec': {'replicas': 700, " TEMPLATE(
            "web:1") "}}");
    for (int i = 0; i < 1000 && number(&w, "replicasets", "replicas") == 0; i++)
        little_pass(&w, 1);
    assert_int_equal(number(&w, "replicasets", "replicas"), 500);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(number(&w, "replicasets", "replicas"), 700);
    little_end(&w);
}

static void deployment(void **state)
{
    (void) state;
    struct little w;
    begin(&w, "deployments", "'replicas': 4, " TEMPLATE("web:1"));
    assert_int_equal(little_ready(&w, "web"), 4);
    assert_string_equal(json_str(object_controller(little_pod(&w, "web", NULL)), "kind"),
                        "ReplicaSet");
    assert_int_equal(number(&w, "deployments", "availableReplicas"), 4);
    little_merge(
        &w, "deployments", "default", "web",
        "{'spec': {'template': {'spec': {'containers': [{'name': 'main', 'image': 'web:2'}]}}}}");
    size_t least = 4, most = 4;
    for (int i = 0; i < 1200; i++) {
        little_pass(&w, 100);
        size_t ready = little_ready(&w, "web"), all = little_count(&w, "pods", "app", "web");
        least = ready < least ? ready : least;
        most = all > most ? all : most;
    }
    assert_true(least >= 3);
    assert_int_equal(little_ready(&w, "web"), 4);
    assert_int_equal(number(&w, "deployments", "updatedReplicas"), 4);
    assert_int_equal(number(&w, "deployments", "replicas"), 4);
    assert_int_equal(little_count(&w, "replicasets", NULL, NULL), 2);
    size_t commits = w.commits;
    little_pass(&w, 60 * MINUTE_MS);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

static void recreate(void **state)
{
    (void) state;
    struct little w;
    begin(&w, "deployments", "'replicas': 2, 'strategy': {'type': 'Recreate'}, " TEMPLATE("web:1"));
    little_merge(
        &w, "deployments", "default", "web",
        "{'spec': {'template': {'spec': {'containers': [{'name': 'main', 'image': 'web:2'}]}}}}");
    size_t most = 0;
    for (int i = 0; i < 600; i++) {
        little_pass(&w, 100);
        size_t all = little_count(&w, "pods", "app", "web");
        most = all > most ? all : most;
    }
    assert_int_equal(most, 2);
    assert_int_equal(little_ready(&w, "web"), 2);
    little_end(&w);
}

static const struct budget_case {
    const char *name, *spec;
    int64_t desired, allowed, expected;
} budget_cases[] = {
    { "minAvailable as a number", "'minAvailable': 3", 3, 1, 4 },
    { "minAvailable as a percentage, rounded up", "'minAvailable': '60%'", 3, 1, 4 },
    { "maxUnavailable as a number", "'maxUnavailable': 1", 3, 1, 4 },
    { "maxUnavailable as a percentage, rounded up", "'maxUnavailable': '30%'", 2, 2, 4 },
    { "more than there are", "'minAvailable': 9", 9, 0, 4 },
    { "none may go", "'maxUnavailable': 0", 4, 0, 4 },
};

static void check_budget(void **state)
{
    const struct budget_case *c = *state;
    struct little w;
    begin(&w, "replicasets", "'replicas': 4, " TEMPLATE("web:1"));
    CLEANUP_FREE char *text = xasprintf("{'metadata': {'name': 'web', 'namespace': 'default'}, "
                                        "'spec': {%s, 'selector': {'matchLabels': {'app': "
                                        "'web'}}}}",
                                        c->spec);
    little_create(&w, "poddisruptionbudgets", text);
    little_pass(&w, 1000);
    assert_int_equal(number(&w, "poddisruptionbudgets", "currentHealthy"), 4);
    assert_int_equal(number(&w, "poddisruptionbudgets", "desiredHealthy"), c->desired);
    assert_int_equal(number(&w, "poddisruptionbudgets", "disruptionsAllowed"), c->allowed);
    assert_int_equal(number(&w, "poddisruptionbudgets", "expectedPods"), c->expected);
    assert_int_equal(number(&w, "poddisruptionbudgets", "observedGeneration"), 1);
    const json_t *condition = condition_find(
        json_at(little_get(&w, "poddisruptionbudgets", "default", "web"), "status.conditions"),
        "DisruptionAllowed");
    assert_string_equal(json_str(condition, "reason"),
                        c->allowed ? "SufficientPods" : "InsufficientPods");
    little_end(&w);
}

static void budget_follows_pods(void **state)
{
    (void) state;
    struct little w;
    begin(&w, "replicasets", "'replicas': 2, " TEMPLATE("web:1"));
    little_create(&w, "poddisruptionbudgets",
                  "{'metadata': {'name': 'web', 'namespace': 'default'}, 'spec': {'minAvailable': "
                  "1, 'selector': {'matchLabels': "
                  "{'app': 'web'}}}}");
    little_pass(&w, 1000);
    assert_int_equal(number(&w, "poddisruptionbudgets", "disruptionsAllowed"), 1);
    little_delete(&w, "pods", "default", object_name(little_pod(&w, "web", NULL)));
    little_pass(&w, 70);
    assert_int_equal(number(&w, "poddisruptionbudgets", "disruptionsAllowed"), 0);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(number(&w, "poddisruptionbudgets", "disruptionsAllowed"), 1);
    little_end(&w);
}

static void budget_over_daemons(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 2);
    little_begin(&w);
    little_daemonset(&w, "d", NULL, NULL);
    little_create(&w, "poddisruptionbudgets",
                  "{'metadata': {'name': 'web', 'namespace': 'ops'}, 'spec': {'maxUnavailable': 1, "
                  "'selector': {'matchLabels': "
                  "{'app': 'd'}}}}");
    little_pass(&w, MINUTE_MS);
    const json_t *budget = little_get(&w, "poddisruptionbudgets", "ops", "web");
    assert_int_equal(json_int(budget, "status.disruptionsAllowed", -1), 0);
    assert_string_equal(
        json_str(condition_find(json_at(budget, "status.conditions"), "DisruptionAllowed"),
                 "reason"),
        "SyncFailed");
    assert_string_equal(
        json_str(condition_find(json_at(budget, "status.conditions"), "DisruptionAllowed"),
                 "message"),
        "daemonsets.apps does not implement the scale subresource");
    little_end(&w);
}

static void disrupted_pods_are_forgotten(void **state)
{
    (void) state;
    struct little w;
    begin(&w, "replicasets", "'replicas': 2, " TEMPLATE("web:1"));
    little_create(&w, "poddisruptionbudgets",
                  "{'metadata': {'name': 'web', 'namespace': 'default'}, 'spec': {'minAvailable': "
                  "1, 'selector': {'matchLabels': "
                  "{'app': 'web'}}}}");
    little_pass(&w, 1000);
    /* An eviction that was allowed, and whose pod does not go: it counts for two minutes. */
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(clock_wall_us(&w.sim.clock), now);
    CLEANUP_FREE char *text = xasprintf(
        "{'status': {'disruptionsAllowed': 0, 'disruptedPods': {'%s': '%s'}}}",
        object_name(little_pod(&w, "web", NULL)), now);
    CLEANUP_JSON json_t *patch = tree(text);
    assert_int_equal(api_merge(w.api, "test", kind_named("poddisruptionbudgets"), "default", "web",
                               "status", patch, NULL),
                     0);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(number(&w, "poddisruptionbudgets", "currentHealthy"), 1);
    assert_int_equal(number(&w, "poddisruptionbudgets", "disruptionsAllowed"), 0);
    little_pass(&w, 2 * MINUTE_MS);
    assert_int_equal(number(&w, "poddisruptionbudgets", "disruptionsAllowed"), 1);
    assert_int_equal(
        json_object_size(json_at(little_get(&w, "poddisruptionbudgets", "default", "web"),
                                 "status.disruptedPods")),
        0);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a ReplicaSet keeps its number of pods", replicas, NULL);
    suite_add(&s, "many replicas come in turns", many_replicas, NULL);
    suite_add(&s, "a Deployment rolls over to a new template", deployment, NULL);
    suite_add(&s, "Recreate ends all old pods first", recreate, NULL);
    SUITE_ROWS(&s, check_budget, budget_cases);
    suite_add(&s, "a budget follows its pods", budget_follows_pods, NULL);
    suite_add(&s, "a budget over pods of a DaemonSet allows nothing", budget_over_daemons, NULL);
    suite_add(&s, "an eviction whose pod stays is forgotten", disrupted_pods_are_forgotten, NULL);
    return suite_run(&s, "workloads");
}
