#include "tests/unit/sim_actors/little_world.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 3600 * 1000 };

static void begin(struct little *w, bool events, const struct spec_image *image)
{
    little_init(w, 1);
    w->options.events = events;
    w->world.images = image;
    w->world.image_count = image ? 1 : 0;
    little_begin(w);
}

/* How often this was told; 0: not at all. */
static int64_t told(const struct little *w, const char *component, const char *reason,
                    const char *kind, const char *message)
{
    const struct kind *k = kind_named("events");
    for (size_t i = 0; i < api_count(w->api, k); i++) {
        const json_t *event = api_at(w->api, k, i);
        if (str_eq(json_str(event, "source.component"), component) &&
            str_eq(json_str(event, "reason"), reason) &&
            str_eq(json_str(event, "involvedObject.kind"), kind) &&
            strstr(json_str_or_empty(event, "message"), message))
            return json_int(event, "count", 0);
    }
    return 0;
}

static void life_of_a_pod(void **state)
{
    (void) state;
    struct little w;
    begin(&w, true, NULL);
    little_daemonset(&w, "d", NULL, NULL);
    little_pass(&w, MINUTE_MS);
    static const struct {
        const char *component, *reason, *kind, *message;
    } words[] = {
        { "node-controller", "RegisteredNode", "Node", "gpu-1" },
        { "daemonset-controller", "SuccessfulCreate", "DaemonSet", "Created pod: d-" },
        { "default-scheduler", "Scheduled", "Pod", "Successfully assigned ops/d-" },
        { "kubelet", "Pulling", "Pod", "Pulling image \"registry.example/main:1\"" },
        { "kubelet", "Pulled", "Pod", "Successfully pulled image" },
        { "kubelet", "Created", "Pod", "main" },
        { "kubelet", "Started", "Pod", "main" },
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (told(&w, words[i].component, words[i].reason, words[i].kind, words[i].message) != 1)
            fail_msg("%s does not tell %s once", words[i].component, words[i].reason);
    little_delete(&w, "daemonsets", "ops", "d");
    little_pass(&w, MINUTE_MS);
    assert_int_equal(told(&w, "kubelet", "Killing", "Pod", "Stopping container main"), 1);
    little_end(&w);
}

static void what_goes_wrong(void **state)
{
    (void) state;
    struct little w;
    struct spec_image missing = { .pattern = "registry.example/main:*", .missing = true };
    begin(&w, true, &missing);
    little_make_pod(&w, "p", NULL);
    little_make_pod(&w, "big",
                    "{'containers': [{'name': 'main', 'image': 'i', 'resources': {'limits': "
                    "{'cpu': '1000'}}}]}");
    little_daemonset(&w, "d", NULL, "{'runtimeClassName': 'nope'}");
    little_pass(&w, 10 * MINUTE_MS);
    assert_in_range(told(&w, "kubelet", "Failed", "Pod", "not found"), 3, 100);
    assert_in_range(told(&w, "kubelet", "BackOff", "Pod", "Back-off pulling image"), 3, 100);
    assert_in_range(
        told(&w, "default-scheduler", "FailedScheduling", "Pod", "0/1 nodes are available"), 1,
        100);
    assert_in_range(told(&w, "daemonset-controller", "FailedCreate", "DaemonSet",
                         "RuntimeClass \"nope\" not found"),
                    3, 100);
    little_end(&w);
}

static void an_hour_later(void **state)
{
    (void) state;
    struct little w;
    begin(&w, true, NULL);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, MINUTE_MS);
    assert_true(little_count(&w, "events", NULL, NULL) > 0);
    little_pass(&w, 2 * HOUR_MS);
    assert_int_equal(little_count(&w, "events", NULL, NULL), 0);
    size_t commits = w.commits;
    little_pass(&w, 24 * HOUR_MS);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

/* Ostler's Events, too. */
static void an_hour_after_the_last_write(void **state)
{
    (void) state;
    struct little w;
    begin(&w, true, NULL);
    little_pass(&w, 3 * HOUR_MS);
    static const char *const names[] = { "written-once", "written-again" };
    const struct kind *k = kind_of("v1", "Event");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP_FREE char *text = xasprintf(
            "{'metadata': {'namespace': 'ops', 'name': '%s'}, 'reason': 'GpuReady', 'count': 1, "
            "'type': 'Normal', 'source': {'component': 'ostler'}, "
            "'firstTimestamp': '2026-01-01T00:00:00Z', 'lastTimestamp': '2026-01-01T00:00:00Z', "
            "'involvedObject': {'kind': 'Pod', 'namespace': 'ops', 'name': 'p'}}",
            names[i]);
        CLEANUP_JSON json_t *event = tree(text);
        assert_int_equal(api_create(w.api, "ostler", k, event, NULL), 0);
    }
    little_pass(&w, 50 * MINUTE_MS);
    CLEANUP_JSON json_t *patch = json_pack("{s:i}", "count", 2);
    assert_int_equal(api_merge(w.api, "ostler", k, "ops", names[1], "", patch, NULL), 0);
    little_pass(&w, 9 * MINUTE_MS);
    assert_int_equal(little_count(&w, "events", NULL, NULL), 2);
    little_pass(&w, 12 * MINUTE_MS);
    assert_null(api_get(w.api, k, "ops", names[0]));
    assert_non_null(api_get(w.api, k, "ops", names[1]));
    little_pass(&w, HOUR_MS);
    assert_int_equal(little_count(&w, "events", NULL, NULL), 0);
    little_end(&w);
}

static void only_when_asked(void **state)
{
    (void) state;
    struct little w;
    begin(&w, false, NULL);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(little_count(&w, "events", NULL, NULL), 0);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "controllers, the scheduler and kubelets tell of a pod's life", life_of_a_pod,
              NULL);
    suite_add(&s, "what goes wrong is told again and again, and counted", what_goes_wrong, NULL);
    suite_add(&s, "what was told an hour ago goes", an_hour_later, NULL);
    suite_add(&s, "an Event of any writer goes an hour after its last write",
              an_hour_after_the_last_write, NULL);
    suite_add(&s, "no events are written unless the world asks for them", only_when_asked, NULL);
    return suite_run(&s, "events");
}
