#include "sim/world/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "tests/unit/support/suite.h"

enum { LATENCY_MS = 5, TEXT_MAX = 1 << 20 };

/* One client that writes down what it gets, on a wire to an API server. */
struct setting {
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct wire_client *client;
    struct fault_plan faults;
    struct buf got; /* "status 200, done" */
    struct buf bytes;
    unsigned news, deaths;
};

static void on_status(void *arg, int status)
{
    struct setting *s = arg;
    buf_printf(&s->got, "%sstatus %d", s->got.len ? ", " : "", status);
}

static int on_bytes(void *arg, const char *bytes, size_t n)
{
    struct setting *s = arg;
    return buf_add(&s->bytes, bytes, n) ? 0 : -1;
}

static void on_done(void *arg, const struct transport_result *result)
{
    struct setting *s = arg;
    buf_printf(&s->got, "%sdone %d%s%s", s->got.len ? ", " : "", result->status,
               result->err.kind ? " " : "",
               result->err.kind ? err_kind_name(result->err.kind) : "");
}

static void on_news(void *arg)
{
    struct setting *s = arg;
    s->news++;
    wire_client_deliver(s->client);
}

static void on_die(void *arg)
{
    struct setting *s = arg;
    s->deaths++;
    wire_client_free(TAKE(s->client));
}

static void begin(struct setting *s, struct fault *fault)
{
    *s = (struct setting){ .got = BUF_INIT(TEXT_MAX), .bytes = BUF_INIT(TEXT_MAX) };
    sim_init(&s->sim, 1);
    s->api = api_new(&s->sim.clock);
    s->faults = (struct fault_plan){ .rows = fault, .count = fault != NULL, .rng = rng_of(1) };
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .faults = &s->faults,
                                               .latency_min_ms = LATENCY_MS,
                                               .latency_max_ms = LATENCY_MS });
    s->client = wire_client_new(
        s->wire,
        &(struct wire_client_options){
            .user = "admin", .user_agent = "test", .news = on_news, .die = on_die, .arg = s });
}

static void end(struct setting *s)
{
    wire_client_free(s->client);
    wire_free(s->wire);
    fault_plan_clear(&s->faults);
    sim_clear(&s->sim);
    api_free(s->api);
    buf_clear(&s->got);
    buf_clear(&s->bytes);
}

static uint64_t submit(struct setting *s, struct request request)
{
    struct transport_sink sink = { on_status, on_bytes, on_done, s };
    return transport_submit(wire_client_transport(s->client), &request, &sink);
}

static struct request create_configmap(void)
{
    return (struct request){ .class = REQUEST_WRITE,
                             .method = "POST",
                             .path = xstrdup("/api/v1/namespaces/default/configmaps"),
                             .content_type = "application/json",
                             .body = xstrdup("{\"metadata\":{\"name\":\"a\"}}"),
                             .timeout_ms = 30000,
                             .resource = RESOURCE_CONFIGMAP };
}

static bool is_there(const struct setting *s)
{
    return api_get(s->api, kind_named("configmaps"), "default", "a") != NULL;
}

/* ---- one request, one fault */

static const struct row {
    const char *name;
    struct fault fault;
    const char *got;
    int64_t at_ms; /* when the answer was there */
    bool there;    /* whether the write was carried out */
    unsigned deaths;
} rows[] = {
    { "nothing goes wrong", { .delay_ms = 1 }, "status 201, done 201", 10, true, 0 },
    { "lost on its way",
      { .point = FAULT_BEFORE, .effect = FAULT_DROP, .nth = 1 },
      "done 0 Timeout",
      30000,
      false,
      0 },
    { "reset on its way",
      { .point = FAULT_BEFORE, .effect = FAULT_RESET, .nth = 1 },
      "done 0 Unreachable",
      10,
      false,
      0 },
    { "late",
      { .point = FAULT_BEFORE, .effect = FAULT_DELAY, .delay_ms = 100, .nth = 1 },
      "status 201, done 201",
      110,
      true,
      0 },
    { "too late to be told",
      { .point = FAULT_BEFORE, .effect = FAULT_DELAY, .delay_ms = 29995, .nth = 1 },
      "done 0 Timeout",
      30000,
      true,
      0 },
    { "refused",
      { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 503, .nth = 1 },
      "status 503, done 503",
      10,
      false,
      0 },
    { "its client dies before it is there",
      { .point = FAULT_BEFORE, .effect = FAULT_DIE, .nth = 1 },
      "",
      0,
      false,
      1 },
    { "answer lost",
      { .point = FAULT_COMMITTED, .effect = FAULT_DROP, .nth = 1 },
      "done 0 Timeout",
      30000,
      true,
      0 },
    { "answer reset",
      { .point = FAULT_COMMITTED, .effect = FAULT_RESET, .nth = 1 },
      "done 0 Unreachable",
      10,
      true,
      0 },
    { "answer late",
      { .point = FAULT_COMMITTED, .effect = FAULT_DELAY, .delay_ms = 50, .nth = 1 },
      "status 201, done 201",
      60,
      true,
      0 },
    { "committed and answered with 504",
      { .point = FAULT_COMMITTED, .effect = FAULT_STATUS, .status = 504, .nth = 1 },
      "status 504, done 504",
      10,
      true,
      0 },
    { "half an answer",
      { .point = FAULT_COMMITTED, .effect = FAULT_HALF, .nth = 1 },
      "status 201, done 201 Unreachable",
      10,
      true,
      0 },
    { "its client dies after the commit",
      { .point = FAULT_COMMITTED, .effect = FAULT_DIE, .nth = 1 },
      "",
      0,
      true,
      1 },
    { "a fault of the second one leaves the first alone",
      { .point = FAULT_BEFORE, .effect = FAULT_DROP, .nth = 2 },
      "status 201, done 201",
      10,
      true,
      0 },
};

static void one_request(void **state)
{
    const struct row *row = *state;
    struct fault fault = row->fault;
    struct setting s;
    fault.classes = FAULT_CLASS(REQUEST_WRITE);
    begin(&s, &fault);
    submit(&s, create_configmap());
    while (!s.news && !s.deaths && sim_step(&s.sim, 60000))
        ;
    assert_string_equal(buf_text(&s.got), row->got);
    if (*row->got)
        assert_int_equal(s.sim.now_ms, row->at_ms);
    assert_int_equal(is_there(&s), row->there);
    assert_int_equal(s.deaths, row->deaths);
    assert_int_equal(fault.fired, fault.nth == 1);
    assert_int_equal(wire_counts(s.wire)->lost_until_ms,
                     strstr(row->got, "Timeout") ? row->at_ms : 0);
    end(&s);
}

/* ---- what a client that goes away leaves behind */

static void what_is_on_its_way_arrives(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    submit(&s, create_configmap());
    wire_client_free(TAKE(s.client));
    sim_run_until(&s.sim, 1000);
    assert_true(is_there(&s));
    assert_int_equal(s.news, 0);
    end(&s);
}

static void a_cancelled_request_is_not_answered(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    uint64_t id = submit(&s, create_configmap());
    sim_run_until(&s.sim, LATENCY_MS);
    transport_cancel(wire_client_transport(s.client), id);
    sim_run_until(&s.sim, 60000);
    assert_true(is_there(&s));
    assert_string_equal(buf_text(&s.got), "");
    end(&s);
}

static void a_cut_client_sends_nothing(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    wire_client_cut(s.client);
    submit(&s, create_configmap());
    sim_run_until(&s.sim, 60000);
    assert_true(wire_client_is_cut(s.client));
    assert_false(is_there(&s));
    end(&s);
}

static void requests_fail_while_the_server_is_away(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    wire_set_away(s.wire, true);
    submit(&s, create_configmap());
    sim_run_until(&s.sim, 1000);
    assert_string_equal(buf_text(&s.got), "done 0 Unreachable");
    assert_false(is_there(&s));
    assert_int_equal(wire_counts(s.wire)->refused, 1);
    wire_set_away(s.wire, false);
    submit(&s, create_configmap());
    sim_run_until(&s.sim, 2000);
    assert_true(is_there(&s));
    end(&s);
}

/* ---- watches */

static void watch_from(struct setting *s, uint64_t rv)
{
    char *path = xasprintf(
        "/api/v1/namespaces/default/"
        "configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=%llu&timeoutSeconds=300",
        (unsigned long long) rv);
    submit(s, (struct request){ .class = REQUEST_WATCH,
                                .method = "GET",
                                .path = path,
                                .timeout_ms = 305000,
                                .resource = RESOURCE_CONFIGMAP });
    sim_run_until(&s->sim, s->sim.now_ms + 100);
}

static void watch(struct setting *s)
{
    watch_from(s, api_rv(s->api));
}

static void create(struct setting *s, const char *name)
{
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s, s:s}}", "metadata", "name", name, "namespace",
                                            "default");
    assert_int_equal(api_create(s->api, "admin", kind_named("configmaps"), object, NULL), 0);
}

/* How often a text is in what the client got. */
static int times(const struct setting *s, const char *text)
{
    int n = 0;
    for (const char *at = buf_text(&s->bytes); (at = strstr(at, text)) != NULL; at++)
        n++;
    return n;
}

static void pass(struct setting *s, int64_t ms)
{
    sim_run_until(&s->sim, s->sim.now_ms + ms);
}

static const struct stream_row {
    const char *name;
    struct fault fault;
    int first, second; /* how often each event came */
    const char *got;
} stream_rows[] = {
    { "events come", { .delay_ms = 1 }, 1, 1, "status 200" },
    { "the last one twice", { .effect = FAULT_DUPLICATE, .nth = 1 }, 2, 1, "status 200" },
    { "late, and in order",
      { .effect = FAULT_DELAY, .delay_ms = 50, .nth = 1 },
      1,
      1,
      "status 200" },
    { "the server ends the stream",
      { .effect = FAULT_CLOSE, .nth = 2 },
      1,
      0,
      "status 200, done 200" },
    { "the connection breaks",
      { .effect = FAULT_RESET, .nth = 2 },
      1,
      0,
      "status 200, done 200 Unreachable" },
    { "the version is too old", { .effect = FAULT_GONE, .nth = 2 }, 1, 0, "status 200, done 200" },
    { "the stream falls silent", { .effect = FAULT_SILENCE, .nth = 2 }, 1, 0, "status 200" },
};

static void one_stream(void **state)
{
    const struct stream_row *row = *state;
    struct fault fault = row->fault;
    struct setting s;
    fault.point = FAULT_FRAMES;
    fault.classes = FAULT_CLASS(REQUEST_WATCH);
    if (fault.nth)
        fault.nth++; /* the first flush is that of the opening, which has nothing */
    begin(&s, &fault);
    watch(&s);
    create(&s, "first");
    pass(&s, 10);
    create(&s, "second");
    pass(&s, 100);
    assert_int_equal(times(&s, "\"name\":\"first\""), row->first);
    assert_int_equal(times(&s, "\"name\":\"second\""), row->second);
    assert_string_equal(buf_text(&s.got), row->got);
    assert_int_equal(times(&s, "410"), fault.effect == FAULT_GONE);
    end(&s);
}

static void a_frozen_watch_goes_on_where_it_stood(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    watch(&s);
    wire_freeze(s.wire, kind_named("configmaps"));
    create(&s, "first");
    pass(&s, 1000);
    assert_int_equal(times(&s, "first"), 0);
    wire_thaw(s.wire);
    pass(&s, 1000);
    assert_int_not_equal(times(&s, "\"name\":\"first\""), 0);
    wire_freeze(s.wire, kind_named("nodes"));
    create(&s, "second");
    pass(&s, 1000);
    assert_int_not_equal(times(&s, "\"name\":\"second\""), 0);
    end(&s);
}

static void bookmarks_come_and_the_stream_ends(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    watch(&s);
    pass(&s, 61 * 1000);
    assert_int_equal(times(&s, "BOOKMARK"), 1);
    pass(&s, 300 * 1000);
    assert_string_equal(buf_text(&s.got), "status 200, done 200");
    end(&s);
}

static void an_outage_breaks_watches(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    watch(&s);
    wire_set_away(s.wire, true);
    pass(&s, 100);
    assert_string_equal(buf_text(&s.got), "status 200, done 200 Unreachable");
    end(&s);
}

static void a_fault_may_go_on_for_a_while(void **state)
{
    (void) state;
    struct setting s;
    struct fault fault = { .point = FAULT_BEFORE,
                           .effect = FAULT_STATUS,
                           .status = 503,
                           .classes = FAULT_CLASS(REQUEST_WRITE),
                           .nth = 1,
                           .for_ms = 1000 };
    begin(&s, &fault);
    s.faults.until_ms = 100;
    for (int i = 0; i < 2; i++) {
        submit(&s, create_configmap());
        sim_run_until(&s.sim, 400 * (i + 1));
    }
    assert_false(is_there(&s));
    sim_run_until(&s.sim, 1100);
    submit(&s, create_configmap());
    sim_run_until(&s.sim, 1200);
    assert_string_equal(buf_text(&s.got),
                        "status 503, done 503, status 503, done 503, status 201, done 201");
    assert_int_equal(fault.fired, 2);
    assert_int_equal(s.faults.mark_count, 1);
    end(&s);
}

static void history_may_be_forgotten_without_a_word(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    uint64_t before = api_rv(s.api);
    watch(&s);
    create(&s, "first");
    wire_forget(s.wire);
    pass(&s, 1000);
    assert_int_equal(times(&s, "410"), 0);
    watch(&s);
    assert_int_equal(times(&s, "410"), 0);
    watch_from(&s, before);
    assert_int_equal(times(&s, "410"), 1);
    end(&s);
}

static void a_list_may_be_of_then(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, NULL);
    uint64_t then = api_rv(s.api);
    create(&s, "first");
    wire_list_from(s.wire, then);
    submit(&s, (struct request){ .class = REQUEST_READ,
                                 .method = "GET",
                                 .path = xstrdup("/api/v1/namespaces/default/configmaps?limit=500"),
                                 .timeout_ms = 60000,
                                 .resource = RESOURCE_CONFIGMAP });
    pass(&s, 100);
    assert_string_equal(buf_text(&s.got), "status 200, done 200");
    assert_int_equal(times(&s, "first"), 0);
    end(&s);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, one_request, rows);
    SUITE_ROWS(&s, one_stream, stream_rows);
    suite_add(&s, "what is on its way arrives", what_is_on_its_way_arrives, NULL);
    suite_add(&s, "a cancelled request is not answered", a_cancelled_request_is_not_answered, NULL);
    suite_add(&s, "a cut client sends nothing", a_cut_client_sends_nothing, NULL);
    suite_add(&s, "requests fail while the server is away", requests_fail_while_the_server_is_away,
              NULL);
    suite_add(&s, "a frozen watch goes on where it stood", a_frozen_watch_goes_on_where_it_stood,
              NULL);
    suite_add(&s, "bookmarks come, and the stream ends", bookmarks_come_and_the_stream_ends, NULL);
    suite_add(&s, "an outage breaks watches", an_outage_breaks_watches, NULL);
    suite_add(&s, "a fault may go on for a while", a_fault_may_go_on_for_a_while, NULL);
    suite_add(&s, "history may be forgotten without a word",
              history_may_be_forgotten_without_a_word, NULL);
    suite_add(&s, "a list may be of then", a_list_may_be_of_then, NULL);
    return suite_run(&s, "wire");
}
