/* What a whole Ostler tells a viewer of the fleet page; one without a page keeps nothing for it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "reconcilers/fleet_view.h"
#include "reconcilers/manifests/render.h"
#include "sim/world/process.h"
#include "tests/unit/sim_world/one_node.h"

enum { SETTLED_MS = 5000, TEXT_MAX = 1 << 20 };

struct setting {
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct fault_plan faults;
    struct manifests *manifests;
    struct process *process;
    size_t rows, policies; /* notices */
};

static void on_changed(void *arg, const char *name)
{
    struct setting *s = arg;
    if (name)
        assert_string_equal(name, "gpu-1");
    s->rows += name != NULL;
    s->policies += !name;
}

static struct setting *run(bool page)
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
                                               .latency_max_ms = 20 });
    s->manifests = manifests_new(NULL);
    create_cluster(s->api);
    s->process = process_new(&(struct process_options){
        .sim = &s->sim,
        .wire = s->wire,
        .engine.manifests = s->manifests,
        .name = "first",
        .user = "system:serviceaccount:ostler-system:ostler",
        .engine.lease_namespace = "ostler-system",
        .engine.cluster.operand_namespace = "ostler-operands",
        .engine.cluster.limits = { "nvcr.io/nvidia", "*", NULL, true, true },
        .engine.cluster.absent_grace_ms = 600 * 1000,
        .engine.viewer = { page ? on_changed : NULL, s },
        .restart_ms = 1000,
        .engine.leader_elect = true });
    process_start(s->process);
    sim_run_until(&s->sim, s->sim.now_ms + SETTLED_MS);
    return s;
}

static void end(struct setting *s)
{
    process_free(s->process);
    wire_free(s->wire);
    fault_plan_clear(&s->faults);
    sim_clear(&s->sim);
    api_free(s->api);
    manifests_free(s->manifests);
    free(s);
}

static json_t *value_of(const struct buf *text)
{
    CLEANUP_ERR struct err e = { 0 };
    json_t *value = json_parse(buf_text(text), text->len, &e);
    assert_non_null(value);
    return value;
}

static void viewer_learns_of_the_node_and_reads_its_story(void **state)
{
    (void) state;
    struct setting *s = run(true);
    assert_in_range(s->rows, 1, 20);
    assert_in_range(s->policies, 1, 20);
    const struct cluster *c = engine_cluster(process_engine(s->process));
    const struct fleet_source source = { c, "1.2.3", "first_1" };
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    fleet_snapshot(&source, "first_1-1", &out);
    CLEANUP_JSON json_t *snapshot = value_of(&out);
    assert_int_equal(json_array_size(json_at(snapshot, "columns.name")), 1);
    assert_string_equal(json_str(snapshot, "policy.name"), "default");
    assert_true(json_array_size(json_at(snapshot, "policy.conditions")) > 0);
    buf_reset(&out);
    assert_true(fleet_node(&source, "gpu-1", &out));
    CLEANUP_JSON json_t *node = value_of(&out);
    assert_non_null(json_at(node, "status.state"));
    assert_true(json_array_size(json_at(node, "explain.story")) > 0);
    CLEANUP_JSON json_t *events = recent_events_of(&c->recent, RESOURCE_POLICY, "default");
    assert_true(json_array_size(events) > 0);
    end(s);
}

/* At rest nothing is told: a viewer's frame would be made for nothing. */
static void cluster_at_rest_tells_nothing(void **state)
{
    (void) state;
    struct setting *s = run(true);
    sim_run_until(&s->sim, s->sim.now_ms + 60 * 1000);
    s->rows = s->policies = 0;
    sim_run_until(&s->sim, s->sim.now_ms + 600 * 1000);
    assert_int_equal(s->rows + s->policies, 0);
    end(s);
}

/* A viewer who comes while Ostler hears nothing sees of which time the picture is. */
static void what_is_shown_while_no_watch_works_is_of_before(void **state)
{
    (void) state;
    enum { OUTAGE_MS = 600 * 1000 };
    struct fault rows[] = { { .point = FAULT_FRAMES,
                              .effect = FAULT_CLOSE,
                              .classes = FAULT_CLASS(REQUEST_WATCH),
                              .one_in = 1,
                              .for_ms = OUTAGE_MS },
                            { .point = FAULT_BEFORE,
                              .effect = FAULT_STATUS,
                              .status = 503,
                              .classes = FAULT_CLASS(REQUEST_WATCH) | FAULT_CLASS(REQUEST_READ),
                              .one_in = 1,
                              .for_ms = OUTAGE_MS } };
    struct setting *s = run(true);
    const struct cluster *c = engine_cluster(process_engine(s->process));
    assert_true(cluster_heard_us(c) == cluster_wall_us(c));
    s->faults.rows = rows;
    s->faults.count = ARRAY_LEN(rows);
    sim_run_until(&s->sim, s->sim.now_ms + OUTAGE_MS);
    CLEANUP_FREE char *why = engine_why_watches_fail((void *) process_engine(s->process));
    assert_non_null(why);
    char then[CLOCK_TEXT_MAX];
    clock_rfc3339(cluster_heard_us(c), then);
    assert_true(cluster_heard_us(c) < cluster_wall_us(c) - INT64_C(60) * 1000000);
    const struct fleet_source source = { c, "1.2.3", "first_1" };
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    fleet_snapshot(&source, "first_1-1", &out);
    CLEANUP_JSON json_t *snapshot = value_of(&out);
    assert_string_equal(json_str(snapshot, "asOf"), then);
    end(s);
}

static void without_a_page_no_event_is_kept(void **state)
{
    (void) state;
    struct setting *s = run(false);
    assert_int_equal(engine_cluster(process_engine(s->process))->recent.bytes, 0);
    end(s);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a viewer learns of the node, and reads its story",
              viewer_learns_of_the_node_and_reads_its_story, NULL);
    suite_add(&s, "a cluster at rest tells nothing", cluster_at_rest_tells_nothing, NULL);
    suite_add(&s, "what is shown while no watch works is of before",
              what_is_shown_while_no_watch_works_is_of_before, NULL);
    suite_add(&s, "without a page no Event is kept", without_a_page_no_event_is_kept, NULL);
    return suite_run(&s, "fleet_view");
}
