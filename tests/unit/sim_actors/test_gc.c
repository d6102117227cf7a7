#include "sim/api/write.h"
#include "tests/unit/sim_actors/little_world.h"

enum { MINUTE_MS = 60 * 1000 };

static void begin(struct little *w)
{
    little_init(w, 2);
    little_begin(w);
    little_daemonset(w, "d", NULL, NULL);
    little_pass(w, MINUTE_MS);
    assert_int_equal(little_ready(w, "d"), 2);
}

static void delete_set(struct little *w, enum propagation propagation)
{
    const struct write write = { .user = "test",
                                 .manager = "test",
                                 .verb = API_DELETE,
                                 .kind = kind_named("daemonsets"),
                                 .ns = "ops",
                                 .name = "d",
                                 .subresource = "" };
    const struct delete_options options = { .grace_s = -1, .propagation = propagation };
    assert_int_equal(write_delete(w->api, &write, &options, NULL, NULL, NULL), 0);
}

static void background(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    delete_set(&w, PROPAGATE_BACKGROUND);
    assert_null(little_get(&w, "daemonsets", "ops", "d"));
    little_pass(&w, MINUTE_MS);
    assert_int_equal(little_count(&w, "pods", NULL, NULL), 0);
    assert_int_equal(little_count(&w, "controllerrevisions", NULL, NULL), 0);
    little_end(&w);
}

static void foreground(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    delete_set(&w, PROPAGATE_FOREGROUND);
    assert_true(object_is_deleting(little_get(&w, "daemonsets", "ops", "d")));
    /* The owner is there for as long as a pod is. */
    while (little_count(&w, "pods", NULL, NULL) > 0) {
        assert_non_null(little_get(&w, "daemonsets", "ops", "d"));
        little_pass(&w, 10);
        assert_true(w.sim.now_ms < 5 * MINUTE_MS);
    }
    little_pass(&w, MINUTE_MS);
    assert_null(little_get(&w, "daemonsets", "ops", "d"));
    assert_int_equal(little_count(&w, "controllerrevisions", NULL, NULL), 0);
    little_end(&w);
}

static void orphan(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    delete_set(&w, PROPAGATE_ORPHAN);
    little_pass(&w, MINUTE_MS);
    assert_null(little_get(&w, "daemonsets", "ops", "d"));
    assert_int_equal(little_ready(&w, "d"), 2);
    assert_int_equal(
        json_array_size(json_at(little_pod(&w, "d", NULL), "metadata.ownerReferences")), 0);
    /* A set of the same selector takes them over. */
    little_daemonset(&w, "d", NULL, NULL);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(little_count(&w, "pods", "app", "d"), 2);
    assert_string_equal(json_str(object_controller(little_pod(&w, "d", NULL)), "uid"),
                        object_uid(little_get(&w, "daemonsets", "ops", "d")));
    little_end(&w);
}

#define OWNER(uid) "{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'name': 'd', 'uid': '" uid "'}"

static void owner_that_never_was(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    little_create(&w, "configmaps",
                  "{'metadata': {'name': 'c', 'namespace': 'ops', 'ownerReferences': [" OWNER(
                      "11111111-1111-1111-1111-111111111111") "]}}");
    little_pass(&w, 2000);
    assert_null(little_get(&w, "configmaps", "ops", "c"));
    little_end(&w);
}

static void one_of_two_owners(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    const char *uid = object_uid(little_get(&w, "daemonsets", "ops", "d"));
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata': {'name': 'c', 'namespace': 'ops', 'ownerReferences': ["
        "{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'name': 'd', 'uid': '%s'},"
        "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'gone', 'uid': "
        "'22222222-2222-2222-2222-222222222222'}]}}",
        uid);
    little_create(&w, "configmaps", text);
    little_pass(&w, 2000);
    const json_t *c = little_get(&w, "configmaps", "ops", "c");
    assert_int_equal(json_array_size(json_at(c, "metadata.ownerReferences")), 1);
    delete_set(&w, PROPAGATE_BACKGROUND);
    little_pass(&w, 2000);
    assert_null(little_get(&w, "configmaps", "ops", "c"));
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "background: dependents go after their owner", background, NULL);
    suite_add(&s, "foreground: the owner goes after its dependents", foreground, NULL);
    suite_add(&s, "orphan: dependents stay, and may be adopted", orphan, NULL);
    suite_add(&s, "an object whose owner never was goes", owner_that_never_was, NULL);
    suite_add(&s, "of two owners the one that is gone is taken out", one_of_two_owners, NULL);
    return suite_run(&s, "gc");
}
