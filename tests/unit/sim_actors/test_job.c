#include "tests/unit/sim_actors/little_world.h"

enum { MINUTE_MS = 60 * 1000 };

static void begin(struct little *w, const struct spec_program *programs, const char *spec)
{
    little_init(w, 2);
    w->world.programs = programs;
    w->world.program_count = programs ? 1 : 0;
    little_begin(w);
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata': {'name': 'j', 'namespace': 'default'}, 'spec': {%s 'template': {'spec': "
        "{'restartPolicy': "
        "'Never', 'containers': [{'name': 'main', 'image': 'train:1'}]}}}}",
        spec);
    little_create(w, "jobs", text);
}

static int64_t number(const struct little *w, const char *field)
{
    return json_int(json_at(little_get(w, "jobs", "default", "j"), "status"), field, 0);
}

static const char *condition(const struct little *w, const char *type)
{
    return condition_status(json_at(little_get(w, "jobs", "default", "j"), "status.conditions"),
                            type);
}

static size_t at_work(const struct little *w)
{
    size_t count = 0;
    for (size_t i = 0; i < api_count(w->api, kind_named("pods")); i++) {
        const json_t *pod = api_at(w->api, kind_named("pods"), i);
        const char *phase = json_str_or_empty(pod, "status.phase");
        count += !str_eq(phase, "Succeeded") && !str_eq(phase, "Failed") &&
                 !object_is_deleting(pod);
    }
    return count;
}

static void completes(void **state)
{
    (void) state;
    static const struct spec_program programs[] = { { .image = "*", .run = { 30000, 60000 } } };
    struct little w;
    begin(&w, programs, "'completions': 5, 'parallelism': 2,");
    size_t most = 0;
    for (int i = 0; i < 600 && !str_eq(condition(&w, "Complete"), "True"); i++) {
        little_pass(&w, 1000);
        most = at_work(&w) > most ? at_work(&w) : most;
    }
    assert_int_equal(most, 2);
    assert_string_equal(condition(&w, "Complete"), "True");
    assert_int_equal(number(&w, "succeeded"), 5);
    assert_int_equal(number(&w, "active"), 0);
    assert_int_equal(little_count(&w, "pods", "job-name", "j"), 5);
    const json_t *pod = api_at(w.api, kind_named("pods"), 0);
    assert_int_equal(json_array_size(json_at(pod, "metadata.finalizers")), 0);
    /* Its pods go with it. */
    little_delete(&w, "jobs", "default", "j");
    little_pass(&w, MINUTE_MS);
    little_end(&w);
}

static void gives_up(void **state)
{
    (void) state;
    static const struct spec_program programs[] = {
        { .image = "*", .run = { 1000, 1000 }, .exit_code = 1 }
    };
    struct little w;
    begin(&w, programs, "'backoffLimit': 3,");
    little_pass(&w, 30 * MINUTE_MS);
    assert_string_equal(condition(&w, "Failed"), "True");
    assert_int_equal(number(&w, "failed"), 4);
    const json_t *failed = condition_find(
        json_at(little_get(&w, "jobs", "default", "j"), "status.conditions"), "Failed");
    assert_string_equal(json_str(failed, "reason"), "BackoffLimitExceeded");
    size_t commits = w.commits;
    little_pass(&w, 60 * MINUTE_MS);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

static void deleted_pod_comes_again(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL, "'completions': 1,");
    little_pass(&w, MINUTE_MS);
    const json_t *pod = api_at(w.api, kind_named("pods"), 0);
    CLEANUP_FREE char *name = xstrdup(object_name(pod));
    little_delete(&w, "pods", "default", name);
    little_pass(&w, 5 * MINUTE_MS);
    assert_null(little_get(&w, "pods", "default", name));
    assert_int_equal(at_work(&w), 1);
    little_end(&w);
}

/* Whoever deletes a pod waits until it is gone, with its finalizer. */
static void pods_of_a_deleted_job_go(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL, "'parallelism': 2, 'completions': 2,");
    little_pass(&w, MINUTE_MS);
    assert_int_equal(at_work(&w), 2);
    little_delete(&w, "jobs", "default", "j");
    little_pass(&w, 5 * MINUTE_MS);
    assert_int_equal(little_count(&w, "pods", NULL, NULL), 0);
    little_end(&w);
}

/* No kubelet ends it. */
static void deleted_pod_without_a_node_goes(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 1);
    little_begin(&w);
    little_create(
        &w, "jobs",
        "{'metadata': {'name': 'j', 'namespace': 'default'}, 'spec': {'template': {'spec': "
        "{'restartPolicy': 'Never', "
        "'nodeSelector': {'a': 'b'}, 'containers': [{'name': 'main', 'image': 'train:1'}]}}}}");
    little_pass(&w, MINUTE_MS);
    const json_t *pod = api_at(w.api, kind_named("pods"), 0);
    assert_null(json_str(pod, "spec.nodeName"));
    CLEANUP_FREE char *name = xstrdup(object_name(pod));
    little_delete(&w, "pods", "default", name);
    little_pass(&w, MINUTE_MS);
    assert_null(little_get(&w, "pods", "default", name));
    assert_int_equal(number(&w, "failed"), 1);
    assert_int_equal(at_work(&w), 1);
    little_end(&w);
}

static void suspend(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL, "'parallelism': 2, 'completions': 2,");
    little_pass(&w, MINUTE_MS);
    assert_int_equal(at_work(&w), 2);
    little_merge(&w, "jobs", "default", "j", "{'spec': {'suspend': true}}");
    little_pass(&w, MINUTE_MS);
    assert_int_equal(at_work(&w), 0);
    little_end(&w);
}

/* As many at once as a real one makes, and the rest afterwards. */
static void makes_many_in_turns(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL, "'parallelism': 700, 'completions': 700,");
    for (int i = 0; i < 1000 && number(&w, "active") == 0; i++)
        little_pass(&w, 1);
    assert_int_equal(number(&w, "active"), 500);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(number(&w, "active"), 700);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a job runs its pods and completes", completes, NULL);
    suite_add(&s, "a job that fails too often gives up", gives_up, NULL);
    suite_add(&s, "a pod that is deleted comes again", deleted_pod_comes_again, NULL);
    suite_add(&s, "the pods of a deleted job go with it", pods_of_a_deleted_job_go, NULL);
    suite_add(&s, "a deleted pod goes that has no node yet", deleted_pod_without_a_node_goes, NULL);
    suite_add(&s, "many pods come in turns", makes_many_in_turns, NULL);
    suite_add(&s, "a suspended job has no pods", suspend, NULL);
    return suite_run(&s, "job");
}
