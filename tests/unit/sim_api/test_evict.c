#include "sim/api/write.h"

#include "kube/condition.h"
#include "kube/object.h"
#include "tests/unit/sim_api/served.h"

#define PODS "/api/v1/namespaces/default/pods"
#define BUDGETS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define VIOLATES "Cannot evict pod as it would violate the pod's disruption budget."
#define DENIED(reason)                                                                             \
    "'conditions': [{'type': 'DisruptionAllowed', 'status': 'False', 'reason': '" reason           \
    "', 'message': 'because', "                                                                    \
    "'lastTransitionTime': '2026-11-20T10:00:00Z', 'observedGeneration': 1}]"

/* A pod, what a kubelet says of it, a budget (NULL: none), what its controller says, and what comes
 * of an eviction. */
static const struct decision_row {
    const char *name;
    const char *pod_status;
    const char *budget; /* its spec */
    const char *budget_status;
    int code;            /* 0: evicted */
    const char *message; /* of the refusal, or of its cause where it has one */
    int64_t left;        /* disruptionsAllowed afterwards */
    bool marked;         /* the pod is named in disruptedPods */
} decisions[] = {
#define READY "'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}]"
#define NOT_READY "'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'False'}]"
#define ALL "'minAvailable': 1, 'selector': {'matchLabels': {'app': 'a'}}"
#define COUNTS(allowed, healthy, desired)                                                          \
    "'observedGeneration': 1, 'disruptionsAllowed': " allowed ", 'currentHealthy': " healthy       \
    ", 'desiredHealthy': " desired ", 'expectedPods': 2"
    { "no budget", READY, NULL, NULL, 0, NULL, 0, false },
    { "a budget of others", READY, "'minAvailable': 1, 'selector': {'matchLabels': {'app': 'b'}}",
      COUNTS("0", "1", "1"), 0, NULL, 0, false },
    { "a budget without a selector", READY, "'minAvailable': 1", COUNTS("0", "1", "1"), 0, NULL, 0,
      false },
    { "a budget for all", READY, "'minAvailable': 1, 'selector': {}", COUNTS("0", "1", "1"), 429,
      "The disruption budget b needs 1 healthy pods and has 1 currently", 0, false },
    { "a budget by expressions", READY,
      "'minAvailable': 1, 'selector': {'matchExpressions': [{'key': 'app', 'operator': 'Exists'}]}",
      COUNTS("0", "1", "1"), 429,
      "The disruption budget b needs 1 healthy pods and has 1 currently", 0, false },
    { "a budget that allows two", READY, ALL, COUNTS("2", "3", "1"), 0, NULL, 1, true },
    { "a budget that allows one", READY, ALL, COUNTS("1", "2", "1"), 0, NULL, 0, true },
    { "a budget that allows none", READY, ALL, COUNTS("0", "1", "1"), 429,
      "The disruption budget b needs 1 healthy pods and has 1 currently", 0, false },
    { "a budget that no controller has seen", READY, ALL, NULL, 429,
      "The disruption budget b is still being processed by the server.", 0, false },
    { "a budget whose sync failed", READY, ALL, COUNTS("0", "1", "1") ", " DENIED("SyncFailed"),
      429,
      "The disruption budget b does not allow evicting pods currently because it failed sync: "
      "because",
      0, false },
    { "a budget that has enough and allows none", READY, ALL, COUNTS("0", "2", "1"), 429,
      "The disruption budget b does not allow evicting pods currently", 0, false },
    { "a budget that has enough, allows none, and says why", READY, ALL,
      COUNTS("0", "2", "1") ", " DENIED("InsufficientPods"), 429,
      "The disruption budget b does not allow evicting pods currently (InsufficientPods): because",
      0, false },
    { "a pod that is not ready, of a budget that is met", NOT_READY, ALL, COUNTS("0", "1", "1"), 0,
      NULL, 0, false },
    { "a pod that is not ready, of a budget that is not met", NOT_READY, ALL, COUNTS("0", "0", "1"),
      429, "The disruption budget b needs 1 healthy pods and has 0 currently", 0, false },
    { "a pod that is not ready, of a budget that wants none", NOT_READY, ALL, COUNTS("0", "0", "0"),
      429, "The disruption budget b needs 0 healthy pods and has 0 currently", 0, false },
    { "a pod that is not ready and may always go", NOT_READY,
      ALL ", 'unhealthyPodEvictionPolicy': 'AlwaysAllow'", COUNTS("0", "0", "1"), 0, NULL, 0,
      false },
    { "a pod that is not ready and may go when it is met", NOT_READY,
      ALL ", 'unhealthyPodEvictionPolicy': 'IfHealthyBudget'", COUNTS("0", "0", "1"), 429,
      "The disruption budget b needs 1 healthy pods and has 0 currently", 0, false },
    { "a pod that is ready, where others may always go", READY,
      ALL ", 'unhealthyPodEvictionPolicy': 'AlwaysAllow'", COUNTS("0", "1", "1"), 429,
      "The disruption budget b needs 1 healthy pods and has 1 currently", 0, false },
    { "a pod that has done its work", "'phase': 'Succeeded'", ALL, COUNTS("0", "1", "1"), 0, NULL,
      0, false },
    { "a pod that has failed", "'phase': 'Failed'", ALL, COUNTS("0", "1", "1"), 0, NULL, 0, false },
    { "a pod that has not begun", "'phase': 'Pending'", ALL, COUNTS("0", "1", "1"), 0, NULL, 0,
      false },
};

/* An API server, and what it said to the last eviction. */
struct scene {
    struct served s;
    struct refusal r;
};

#define CLEANUP_SCENE CLEANUP(scene_clear)

static void scene_clear(struct scene *c)
{
    refusal_clear(&c->r);
    served_clear(&c->s);
}

static void make_pod(struct served *s, const char *status)
{
    served_expect(s, "POST " PODS,
                  "{'metadata': {'name': 'p', 'labels': {'app': 'a'}, 'finalizers': "
                  "['example.com/hold']}, 'spec': {'nodeName': "
                  "'n', 'containers': "
                  "[{'name': 'c', 'image': 'i'}]}}",
                  201);
    CLEANUP_FREE char *body = xasprintf("{'status': {%s}}", status);
    served_expect(s, "PATCH " PODS "/p/status", body, 200);
}

static void make_budget(struct served *s, const char *name, const char *spec, const char *status)
{
    CLEANUP_FREE char *body = xasprintf("{'metadata': {'name': '%s'}, 'spec': {%s}}", name, spec);
    served_expect(s, "POST " BUDGETS, body, 201);
    if (!status)
        return;
    CLEANUP_FREE char *target = xasprintf("PATCH " BUDGETS "/%s/status", name);
    CLEANUP_FREE char *found = xasprintf("{'status': {%s}}", status);
    served_expect(s, target, found, 200);
}

/* The pod p, with what its kubelet says of it (NULL: there is none), and the budget b (NULL: none),
 * with what its controller says. */
static void scene_init(struct scene *c, const char *pod_status, const char *budget,
                       const char *budget_status)
{
    c->r = (struct refusal){ 0 };
    served_init(&c->s);
    if (pod_status)
        make_pod(&c->s, pod_status);
    if (budget)
        make_budget(&c->s, "b", budget, budget_status);
}

static int evict(struct scene *c, json_t *eviction)
{
    return evict_pod(c->s.api, "tester", "default", "p", eviction, &c->r);
}

static json_t *pod_of(const struct scene *c)
{
    return api_get(c->s.api, kind_named("pods"), "default", "p");
}

static json_t *budget_of(const struct scene *c, const char *name)
{
    return api_get(c->s.api, kind_named("poddisruptionbudgets"), "default", name);
}

static void assert_refused(const struct refusal *r, const struct decision_row *row)
{
    assert_int_equal(r->code, row->code);
    assert_string_equal(r->reason, "TooManyRequests");
    assert_string_equal(r->message, VIOLATES);
    const json_t *cause = json_array_get(json_object_get(r->details, "causes"), 0);
    assert_string_equal(json_str(cause, "reason"), "DisruptionBudget");
    assert_string_equal(json_str(cause, "message"), row->message);
    assert_int_equal(r->retry_after_s, row->budget_status ? 0 : 10);
}

static void check_decision(void **state)
{
    const struct decision_row *row = *state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, row->pod_status, row->budget, row->budget_status);
    int rc = evict(&c, NULL);
    assert_int_equal(rc, row->code ? -1 : 0);
    assert_int_equal(object_is_deleting(pod_of(&c)), !row->code);
    const json_t *budget = budget_of(&c, "b");
    assert_int_equal(json_int(budget, "status.disruptionsAllowed", 0), row->left);
    assert_int_equal(json_at(budget, "status.disruptedPods.p") != NULL, row->marked);
    if (row->code)
        assert_refused(&c.r, row);
}

/* ---- what an eviction leaves behind */

static void check_mark(void **state)
{
    (void) state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, ALL, COUNTS("1", "2", "1"));
    c.s.now_us += 5000000;
    assert_int_equal(evict(&c, NULL), 0);
    const json_t *mark = condition_find(json_at(pod_of(&c), "status.conditions"),
                                        "DisruptionTarget");
    assert_string_equal(json_str(mark, "status"), "True");
    assert_string_equal(json_str(mark, "reason"), "EvictionByEvictionAPI");
    assert_string_equal(json_str(mark, "lastTransitionTime"), "2026-11-20T10:00:05Z");
    assert_string_equal(condition_status(json_at(pod_of(&c), "status.conditions"), "Ready"),
                        "True");
    const json_t *budget = budget_of(&c, "b");
    assert_string_equal(json_str(budget, "status.disruptedPods.p"), "2026-11-20T10:00:05Z");
    const json_t *allowed = condition_find(json_at(budget, "status.conditions"),
                                           "DisruptionAllowed");
    assert_string_equal(json_str(allowed, "status"), "False");
    assert_string_equal(json_str(allowed, "reason"), "InsufficientPods");
}

/* A pod that is evicted again is marked once. */
static void check_again(void **state)
{
    (void) state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, ALL, COUNTS("2", "3", "1"));
    assert_int_equal(evict(&c, NULL), 0);
    size_t conditions = json_array_size(json_at(pod_of(&c), "status.conditions"));
    assert_int_equal(evict(&c, NULL), 0);
    assert_int_equal(json_array_size(json_at(pod_of(&c), "status.conditions")), conditions);
    assert_int_equal(json_int(budget_of(&c, "b"), "status.disruptionsAllowed", 0), 1);
}

static const struct options_row {
    const char *name;
    const char *options;
    int code;            /* 0: evicted */
    const char *message; /* how the refusal begins */
    int64_t grace_s;     /* of the deletion; -1: there is none */
    int64_t left;        /* disruptionsAllowed afterwards */
} options[] = {
    { "nothing said", "{}", 0, NULL, 30, 0 },
    { "a grace of its own", "{'gracePeriodSeconds': 3}", 0, NULL, 3, 0 },
    { "a dry run", "{'dryRun': ['All']}", 0, NULL, -1, 1 },
    { "another incarnation", "{'preconditions': {'uid': 'other'}}", 409,
      "Operation cannot be fulfilled on Pod \"p\": the UID in the precondition (other) does not "
      "match the UID in record (",
      -1, 0 },
    { "another version", "{'preconditions': {'resourceVersion': '1'}}", 409,
      "Operation cannot be fulfilled on Pod \"p\": the ResourceVersion in the precondition (1) "
      "does not match the "
      "ResourceVersion in record (",
      -1, 0 },
    { "a dry run of another version",
      "{'dryRun': ['All'], 'preconditions': {'resourceVersion': '1'}}", 409,
      "Operation cannot be fulfilled on Pod \"p\": the ResourceVersion in the precondition (1) "
      "does not match",
      -1, 1 },
};

static void check_options(void **state)
{
    const struct options_row *row = *state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, ALL, COUNTS("1", "2", "1"));
    CLEANUP_FREE char *text = xasprintf("{'deleteOptions': %s}", row->options);
    CLEANUP_JSON json_t *eviction = tree(text);
    assert_int_equal(evict(&c, eviction), row->code ? -1 : 0);
    assert_int_equal(c.r.code, row->code);
    if (row->code)
        assert_true(str_has_prefix(c.r.message, row->message));
    assert_int_equal(json_int(pod_of(&c), "metadata.deletionGracePeriodSeconds", -1), row->grace_s);
    assert_int_equal(json_int(budget_of(&c, "b"), "status.disruptionsAllowed", 0), row->left);
}

/* The version that is there is the one before the mark. */
static void check_this_version(void **state)
{
    (void) state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, NULL, NULL);
    CLEANUP_JSON json_t *eviction = json_pack(
        "{s:{s:{s:s, s:s}}}", "deleteOptions", "preconditions", "uid", object_uid(pod_of(&c)),
        "resourceVersion", json_str(pod_of(&c), "metadata.resourceVersion"));
    assert_int_equal(evict(&c, eviction), 0);
    assert_true(object_is_deleting(pod_of(&c)));
}

/* ---- what cannot be evicted */

static void check_no_pod(void **state)
{
    (void) state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, NULL, NULL, NULL);
    assert_int_equal(evict(&c, NULL), -1);
    assert_int_equal(c.r.code, 404);
    assert_string_equal(c.r.message, "pods \"p\" not found");
}

static void check_two_budgets(void **state)
{
    (void) state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, ALL, COUNTS("1", "2", "1"));
    make_budget(&c.s, "c", ALL, COUNTS("1", "2", "1"));
    assert_int_equal(evict(&c, NULL), -1);
    assert_int_equal(c.r.code, 500);
    assert_null(c.r.reason);
    assert_string_equal(
        c.r.message,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support.");
    assert_false(object_is_deleting(pod_of(&c)));
}

/* A budget that has been changed since its controller looked at it. */
static void check_changed_budget(void **state)
{
    (void) state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, ALL, COUNTS("1", "2", "1"));
    served_expect(&c.s, "PATCH " BUDGETS "/b", "{'spec': {'minAvailable': 2}}", 200);
    assert_int_equal(evict(&c, NULL), -1);
    assert_int_equal(c.r.code, 429);
    assert_int_equal(c.r.retry_after_s, 10);
}

/* Far more pods on their way than a budget keeps count of. */
static void check_crowded_budget(void **state)
{
    (void) state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, ALL, COUNTS("1", "2", "1"));
    CLEANUP_JSON json_t *patch = tree("{'status': {'disruptedPods': {}}}");
    for (int i = 0; i <= 2000; i++) {
        CLEANUP_FREE char *name = xasprintf("q%d", i);
        json_object_set_new(json_at(patch, "status.disruptedPods"), name,
                            json_string("2026-11-20T10:00:00Z"));
    }
    const struct kind *budgets = kind_named("poddisruptionbudgets");
    assert_int_equal(api_merge(c.s.api, "tester", budgets, "default", "b", "status", patch, NULL),
                     0);
    assert_int_equal(evict(&c, NULL), -1);
    assert_int_equal(c.r.code, 403);
    assert_string_equal(
        c.r.message,
        "poddisruptionbudget.policy \"b\" is forbidden: DisruptedPods map too big - too many "
        "evictions not confirmed by "
        "PDB controller");
}

/* ---- over HTTP */

static const struct request_row {
    const char *name;
    const char *body;
    int code;
    const char *message;
} requests[] = {
    { "another name in the body", "{'metadata': {'name': 'q'}}", 400,
      "name in URL does not match name in Eviction object" },
    { "no name in the body", "{}", 400, "name in URL does not match name in Eviction object" },
    { "a body of another kind", "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}}",
      400,
      "Pod in version \"v1\" cannot be handled as a Eviction: converting (v1.Pod) to "
      "(policy.Eviction): unknown conversion" },
    { "a policy that is none",
      "{'metadata': {'name': 'p'}, 'deleteOptions': {'propagationPolicy': 'Foo'}}", 422,
      "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": "
      "supported values: "
      "\"Foreground\", \"Background\", \"Orphan\", \"nil\"" },
    { "a dry run of another kind",
      "{'metadata': {'name': 'p'}, 'deleteOptions': {'dryRun': ['Foo']}}", 422,
      "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Foo\"]: supported "
      "values: \"All\"" },
    { "a budget in the way",
      "{'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'p'}}", 429, VIOLATES },
};

static void check_request(void **state)
{
    const struct request_row *row = *state;
    CLEANUP_SCENE struct scene c;
    scene_init(&c, READY, ALL, NULL);
    served_expect(&c.s, "POST " PODS "/p/eviction", row->body, row->code);
    assert_string_equal(served_str(&c.s, "message"), row->message);
    assert_int_equal(c.s.answer.retry_after_s, row->code == 429 ? 10 : 0);
    assert_int_equal(json_int(c.s.body, "details.retryAfterSeconds", 0), row->code == 429 ? 10 : 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_decision, decisions);
    suite_add(&s, "marks on the pod and its budget", check_mark, NULL);
    suite_add(&s, "a second eviction", check_again, NULL);
    SUITE_ROWS(&s, check_options, options);
    suite_add(&s, "the version that is there", check_this_version, NULL);
    suite_add(&s, "a pod that is not there", check_no_pod, NULL);
    suite_add(&s, "two budgets", check_two_budgets, NULL);
    suite_add(&s, "a budget that was changed", check_changed_budget, NULL);
    suite_add(&s, "a crowded budget", check_crowded_budget, NULL);
    SUITE_ROWS(&s, check_request, requests);
    return suite_run(&s, "evict");
}
