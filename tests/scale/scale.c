/* Ostler in a large simulated cluster, in this process: the memory that is its own, apart from the
 * simulator's, and the time it takes. Figures; nothing is judged. `scale FILE NODES`: a scenario
 * without a policy, which tests/scale/run makes, and how many nodes are upgraded together.
 * With `labels` or `annotations`: what an event of a Node costs, under callgrind. With `lists` or
 * `restart`: what the first lists cost, without a policy or with all operands up. With `viewer`:
 * what a viewer of the fleet page gets in the upgrade, and under callgrind what a frame costs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/policy.h"
#include "sim/actors/actors.h"
#include "sim/api/builtin.h"
#include "sim/scenario/scenario.h"
#include "sim/world/process.h"
#include "tests/scale/count.h"
#include "tests/scale/heap.h"
#include "tests/scale/requests.h"
#include "tests/scale/viewer.h"

#define ADMIN "kubernetes-admin"
#define DRIVER "575.57.08"
#define OSTLER_USER "system:serviceaccount:ostler-system:ostler"

enum {
    QUIET_MS = 300 * 1000, /* a driver is built for up to four minutes */
    PATIENCE_MS = 6 * 3600 * 1000,
    LATENCY_MIN_MS = 1,
    LATENCY_MAX_MS = 5,
    EVENTS = 200,
    EVENTS_APART_MS = 50,
    EVENT_IMAGES = 70,
};

struct scale {
    struct scenario *scenario;
    struct manifests *manifests;
    int at_a_time; /* nodes that are upgraded together */
    /* "labels" or "annotations" of an event, "lists" or "restart": what is asked for is the cost of
     * that, in place of an upgrade; "viewer": the upgrade has a viewer of the fleet page */
    const char *part;
    struct viewer viewer;
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct actors *actors;
    struct process *ostler;
    int64_t changed_ms; /* when something last changed that is no lease */
    uint64_t commits, writes;
    int64_t began_ms; /* of this step, in real time */
    bool counts;      /* instructions of Ostler's are counted: its turns are events */
    /* What Ostler took of it. */
    struct requests requests;
    int64_t turn_began_us, busy_us, longest_us; /* the processor's time */
};

/* Whether that is the part whose cost is asked for. */
static bool asks(const struct scale *s, const char *part)
{
    return str_eq(s->part, part);
}

static void on_commit(void *arg, const struct api_commit *c)
{
    struct scale *s = arg;
    if (str_eq(c->kind->plural, "leases"))
        return;
    s->changed_ms = s->sim.now_ms;
    s->commits++;
    s->writes += str_eq(c->user, OSTLER_USER);
}

static int64_t now_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t) t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Ostler's code runs within that of the world: what it asks for, until that is answered, counts as
 * its own too. */
static void on_running(void *arg, bool begins)
{
    struct scale *s = arg;
    if (s->counts)
        count_toggle();
    heap_enter(begins ? HEAP_OSTLER : HEAP_WORLD);
    int64_t now = now_us(CLOCK_PROCESS_CPUTIME_ID), took = now - s->turn_began_us;
    if (begins) {
        s->turn_began_us = now;
        return;
    }
    s->busy_us += took;
    s->longest_us = took > s->longest_us ? took : s->longest_us;
}

static void on_sent(void *arg, struct wire_client *c, const struct request *r)
{
    (void) c;
    struct scale *s = arg;
    enum heap_owner owner = heap_enter(HEAP_WORLD);
    requests_count(&s->requests, r);
    heap_enter(owner);
}

static void create(struct scale *s, const json_t *object)
{
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"),
                                   json_str_or_empty(object, "kind"));
    if (k && api_create(s->api, ADMIN, k, object, &refusal) == 0)
        return;
    fprintf(stderr, "scale: %s cannot be created: %s\n", json_str_or_empty(object, "metadata.name"),
            k ? refusal.message : "no such kind");
    exit(2);
}

static void install(struct scale *s)
{
    CLEANUP_ERR struct err e = { 0 };
    if (builtin_install(s->api, ADMIN, "ostler-system", "ostler-operands", &e) == 0)
        return;
    fprintf(stderr, "scale: %s\n", err_msg(&e));
    exit(2);
}

static void set_up(struct scale *s, const char *file)
{
    CLEANUP_ERR struct err e = { 0 };
    s->scenario = scenario_read(file, &e);
    heap_enter(HEAP_OSTLER);
    s->manifests = manifests_new(&e);
    heap_enter(HEAP_WORLD);
    if (!s->scenario || !s->manifests) {
        fprintf(stderr, "scale: %s\n", err_msg(&e));
        exit(2);
    }
    sim_init(&s->sim, s->scenario->seed);
    s->api = api_new(&s->sim.clock);
    api_share_parts(s->api);
    api_on_commit(s->api, on_commit, s);
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .latency_min_ms = LATENCY_MIN_MS,
                                               .latency_max_ms = LATENCY_MAX_MS,
                                               .sent = on_sent,
                                               .arg = s });
    install(s);
    s->actors = actors_new(&s->sim, s->api,
                           &(struct actors_options){ .world = &s->scenario->world });
    s->ostler = process_new(&(struct process_options){
        .sim = &s->sim,
        .wire = s->wire,
        .engine.manifests = s->manifests,
        .name = "ostler",
        .user = OSTLER_USER,
        .engine.lease_namespace = "ostler-system",
        .engine.cluster.operand_namespace = "ostler-operands",
        .engine.cluster.limits = { POLICY_IMAGE_PREFIXES, "*", NULL, false, true },
        .engine.cluster.absent_grace_ms = 600 * 1000,
        .restart_ms = 1000,
        .engine.leader_elect = true,
        .engine.viewer = { asks(s, "viewer") ? viewer_changed : NULL, &s->viewer },
        .running = on_running,
        .arg = s });
}

static void tear_down(struct scale *s)
{
    process_free(s->ostler);
    viewer_clear(&s->viewer);
    actors_free(s->actors);
    wire_free(s->wire);
    requests_clear(&s->requests);
    sim_clear(&s->sim);
    api_free(s->api);
    manifests_free(s->manifests);
    scenario_free(s->scenario);
}

/* Lets time pass until nothing has changed for a while. */
static void settle(struct scale *s)
{
    int64_t limit = s->sim.now_ms + PATIENCE_MS;
    s->changed_ms = s->sim.now_ms;
    while (s->sim.now_ms < s->changed_ms + QUIET_MS && s->sim.now_ms < limit) {
        sim_step(&s->sim, s->changed_ms + QUIET_MS);
        if (asks(s, "viewer") && process_engine(s->ostler))
            viewer_look(&s->viewer, engine_cluster(process_engine(s->ostler)), s->sim.now_ms);
    }
}

static const char *ready(const struct scale *s)
{
    const json_t *policy = api_get(s->api, kind_named("gpuclusterpolicies"), NULL, POLICY_NAME);
    return policy ? str_or_empty(condition_status(json_at(policy, "status.conditions"), "Ready"))
                  : "(no policy)";
}

static double mib(size_t bytes)
{
    return (double) bytes / (1 << 20);
}

static void begin(struct scale *s)
{
    s->began_ms = now_us(CLOCK_MONOTONIC) / 1000;
    s->commits = s->writes = 0;
    s->busy_us = s->longest_us = 0;
    requests_clear(&s->requests);
    heap_forget_peak(HEAP_OSTLER);
}

static void report(const struct scale *s, const char *what)
{
    printf("%-44s Ostler %6.2f MiB, at most %6.2f; simulator %7.1f MiB; %" PRIu64
           " writes of Ostler's, %" PRIu64 " of all; "
           "%.1f s, of the processor's Ostler's %.1f, at most %.1f ms in a turn\n",
           what, mib(heap_bytes(HEAP_OSTLER)), mib(heap_peak(HEAP_OSTLER)),
           mib(heap_bytes(HEAP_WORLD)), s->writes, s->commits,
           (double) (now_us(CLOCK_MONOTONIC) / 1000 - s->began_ms) / 1000,
           (double) s->busy_us / 1e6, (double) s->longest_us / 1e3);
    fflush(stdout);
}

/* Another driver for all nodes, so many at a time. */
static void upgrade(struct scale *s)
{
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "spec", "driver", "version", DRIVER);
    CLEANUP_FREE char *what = xasprintf("another driver, %d nodes at a time", s->at_a_time);
    size_t nodes = api_count(s->api, kind_named("gpunodes"));
    int64_t began_ms = s->sim.now_ms;
    begin(s);
    viewer_clear(&s->viewer);
    if (api_merge(s->api, ADMIN, kind_named("gpuclusterpolicies"), NULL, POLICY_NAME, "", patch,
                  &refusal)) {
        fprintf(stderr, "scale: the policy cannot be changed: %s\n", refusal.message);
        exit(2);
    }
    settle(s);
    report(s, what);
    printf("    %.0f minutes of virtual time\n", (double) (s->changed_ms - began_ms) / 60000);
    requests_print(&s->requests, nodes);
    if (asks(s, "viewer"))
        viewer_print(&s->viewer, s->changed_ms - began_ms);
    fflush(stdout);
}

/* The images of a real node are most of its text. */
static json_t *many_images(void)
{
    json_t *images = json_array();
    for (int i = 0; i < EVENT_IMAGES; i++)
        json_array_append_new(
            images,
            json_pack(
                "{s:[o,o], s:i}", "names",
                json_textf("registry.example.com/team-%02d/application-%02d@sha256:%064d", i, i, i),
                json_textf("registry.example.com/team-%02d/application-%02d:v1.%d.0", i, i, i),
                "sizeBytes", 123456789 + i));
    return json_pack("{s:{s:o}}", "status", "images", images);
}

static void edit_node(struct scale *s, const char *name, const char *part, json_t *patch_steal)
{
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    CLEANUP_JSON json_t *patch = patch_steal;
    if (api_merge(s->api, ADMIN, kind_named("nodes"), NULL, name, part, patch, &refusal)) {
        fprintf(stderr, "scale: node %s cannot be changed: %s\n", name, refusal.message);
        exit(2);
    }
}

/* Events of a node that change nothing that Ostler reads. */
static void events(struct scale *s)
{
    const char *name = s->scenario->world.nodes[0].name;
    edit_node(s, name, "status", many_images());
    settle(s);
    begin(s);
    count_start();
    s->counts = true;
    for (int i = 0; i < EVENTS; i++) {
        edit_node(s, name, "",
                  json_pack("{s:{s:{s:o}}}", "metadata", s->part, "example.com/bench",
                            json_textf("%d", i)));
        int64_t until = s->sim.now_ms + EVENTS_APART_MS;
        while (s->sim.now_ms < until)
            sim_step(&s->sim, until);
    }
    s->counts = false;
    const json_t *node = api_get(s->api, kind_named("nodes"), NULL, name);
    CLEANUP_FREE char *text = json_compact(node);
    printf("%d events of a node of %zu bytes, %.1f us of the processor's each\n", EVENTS,
           strlen(text), (double) s->busy_us / EVENTS);
    fflush(stdout);
}

static void print_listed(const struct scale *s, const char *plural)
{
    const struct kind *k = kind_named(plural);
    size_t count = api_count(s->api, k), bytes = 0;
    for (size_t i = 0; i < count; i++) {
        CLEANUP_FREE char *text = json_compact(api_at(s->api, k, i));
        bytes += strlen(text);
    }
    printf("%zu %s of %zu bytes\n", count, plural, count ? bytes / count : 0);
}

/* The first lists, of which callgrind counts what the splitter passes on, too. */
static void lists(struct scale *s, const char *what)
{
    begin(s);
    count_start();
    process_start(s->ostler);
    settle(s);
    report(s, what);
    print_listed(s, "nodes");
    print_listed(s, "pods");
    fflush(stdout);
}

/* Makes all nodes as large as real ones. */
static void enlarge_nodes(struct scale *s)
{
    const struct kind *k = kind_named("nodes");
    CLEANUP_JSON json_t *images = many_images();
    for (size_t i = 0; i < api_count(s->api, k); i++) {
        CLEANUP_FREE char *name = xstrdup(object_name(api_at(s->api, k, i)));
        edit_node(s, name, "status", json_incref(images));
    }
    settle(s);
}

static void live(struct scale *s)
{
    begin(s);
    settle(s);
    report(s, "before it starts");
    if (asks(s, "lists") || asks(s, "restart"))
        enlarge_nodes(s);
    if (asks(s, "lists")) {
        lists(s, "without a policy");
        return;
    }
    begin(s);
    process_start(s->ostler);
    settle(s);
    report(s, "without a policy");
    CLEANUP_JSON json_t *policy = json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:{s:i, s:i, s:{s:i}}}}", "apiVersion", "ostler.dev/v1alpha1",
        "kind", "GpuClusterPolicy", "metadata", "name", POLICY_NAME, "spec", "rollout",
        "maxParallel", s->at_a_time, "maxUnavailable", s->at_a_time, "canary", "nodes", 0);
    begin(s);
    create(s, policy);
    settle(s);
    report(s, "all nodes marked, all operands up");
    if (asks(s, "restart")) {
        process_kill(s->ostler);
        lists(s, "all operands up");
        return;
    }
    if (s->part && !asks(s, "viewer")) {
        events(s);
        return;
    }
    upgrade(s);
    if (asks(s, "viewer"))
        return;
    begin(s);
    process_kill(s->ostler);
    settle(s);
    report(s, "started anew");
    printf("%zu nodes, %zu pods; Ready is %s\n", api_count(s->api, kind_named("nodes")),
           api_count(s->api, kind_named("pods")), ready(s));
}

int main(int argc, char **argv)
{
    mem_hook_jansson();
    log_setup(LOG_SILENT, false);
    if ((argc != 3 && argc != 4) || atoi(argv[2]) <= 0) {
        fprintf(stderr, "usage: scale FILE NODES [labels|annotations|lists|restart|viewer]\n");
        return 2;
    }
    struct scale s = { .at_a_time = atoi(argv[2]), .part = argc == 4 ? argv[3] : NULL };
    set_up(&s, argv[1]);
    live(&s);
    bool well = asks(&s, "lists") || str_eq(ready(&s), "True");
    tear_down(&s);
    return well ? 0 : 1;
}
