/* How an inventory gets to the API server: over the simulated one, with what can be there before
 * and what can go wrong. */
#include "node/agent/report.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/api/builtin.h"
#include "sim/world/wire.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { LATENCY_MS = 5, MINUTE_MS = 60 * 1000 };

#define BOOT "'bootId':'7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2'"
#define OTHER_BOOT "'bootId':'00000000-4d2c-4f5b-8d9a-6a2fb0a7b1c2'"
#define GPU "'gpus':[{'address':'0000:65:00.0','bus':'Answers','device':'2330'}]"
#define SWITCH "'gpus':[],'nvSwitches':[{'address':'0000:85:00.0','bus':'Answers'}]"
#define NONE BOOT ",'gpus':[]"

static const struct row {
    const char *name;
    /* what is there: an inventory, "" for a GpuNode without one, NULL for no GpuNode */
    const char *said;
    const char *seen;
    const char *after; /* the inventory at the end; NULL: there is no GpuNode */
    unsigned writes;   /* that the server took */
    unsigned absent;
    struct fault fault;
    enum err_kind error;
} rows[] = {
    { "a GPU and no GpuNode",
      NULL,
      "{" BOOT "," GPU "}",
      "{" BOOT "," GPU "}",
      2,
      0,
      { 0 },
      ERR_NONE },
    { "a switch alone is worth one",
      NULL,
      "{" SWITCH "}",
      "{" SWITCH ",'absentLooks':1}",
      2,
      1,
      { 0 },
      ERR_NONE },
    { "no GPU and no GpuNode: nothing is made", NULL, "{" NONE "}", NULL, 0, 0, { 0 }, ERR_NONE },
    { "not known how many, and no GpuNode: nothing is made",
      NULL,
      "{" BOOT "}",
      NULL,
      0,
      0,
      { 0 },
      ERR_NONE },
    { "a GpuNode that says nothing of it",
      "",
      "{" BOOT "," GPU "}",
      "{" BOOT "," GPU "}",
      1,
      0,
      { 0 },
      ERR_NONE },
    { "the same",
      "{" BOOT "," GPU "}",
      "{" BOOT "," GPU "}",
      "{" BOOT "," GPU "}",
      0,
      0,
      { 0 },
      ERR_NONE },
    { "what the agent no longer sees is removed",
      "{" BOOT ",'kernel':'6.8.0'," GPU "}",
      "{" BOOT "," GPU "}",
      "{" BOOT "," GPU "}",
      1,
      0,
      { 0 },
      ERR_NONE },
    { "gone, once",
      "{" BOOT "," GPU "}",
      "{" NONE "}",
      "{" NONE ",'absentLooks':1}",
      1,
      1,
      { 0 },
      ERR_NONE },
    { "gone, twice",
      "{" NONE ",'absentLooks':1}",
      "{" NONE "}",
      "{" NONE ",'absentLooks':2}",
      1,
      2,
      { 0 },
      ERR_NONE },
    { "gone, for good",
      "{" NONE ",'absentLooks':2}",
      "{" NONE "}",
      "{" NONE ",'absentLooks':3}",
      1,
      3,
      { 0 },
      ERR_NONE },
    { "gone, and said",
      "{" NONE ",'absentLooks':3}",
      "{" NONE "}",
      "{" NONE ",'absentLooks':3}",
      0,
      3,
      { 0 },
      ERR_NONE },
    { "gone, counted before the machine started anew",
      "{" OTHER_BOOT ",'gpus':[],'absentLooks':3}",
      "{" NONE "}",
      "{" NONE ",'absentLooks':1}",
      1,
      1,
      { 0 },
      ERR_NONE },
    { "it is back",
      "{" NONE ",'absentLooks':2}",
      "{" BOOT "," GPU "}",
      "{" BOOT "," GPU "}",
      1,
      0,
      { 0 },
      ERR_NONE },
    { "not known is not gone",
      "{" NONE ",'absentLooks':2}",
      "{" BOOT "}",
      "{" BOOT "}",
      1,
      0,
      { 0 },
      ERR_NONE },
    { "no answer to the question",
      "",
      "{" GPU "}",
      "",
      0,
      0,
      { .point = FAULT_BEFORE, .effect = FAULT_RESET, .nth = 1 },
      ERR_UNREACHABLE },
    { "no answer to the write, which was carried out",
      "",
      "{" BOOT "," GPU "}",
      "{" BOOT "," GPU "}",
      1,
      0,
      { .point = FAULT_COMMITTED, .effect = FAULT_RESET, .nth = 2 },
      ERR_UNREACHABLE },
    { "made, and not written: the next look does",
      NULL,
      "{" GPU "}",
      "",
      1,
      0,
      { .point = FAULT_BEFORE, .effect = FAULT_RESET, .nth = 3 },
      ERR_UNREACHABLE },
};

struct setting {
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct wire_client *client;
    struct fault fault;
    struct fault_plan faults;
    struct report report;
    unsigned writes;
};

static const struct kind *gpu_nodes(void)
{
    return kind_named("gpunodes");
}

static void on_news(void *arg)
{
    const struct setting *s = arg;
    wire_client_deliver(s->client);
}

static void on_commit(void *arg, const struct api_commit *c)
{
    struct setting *s = arg;
    s->writes += str_eq(c->user, "agent");
}

static void set_up_server(struct setting *s, const char *said)
{
    CLEANUP_JSON json_t *object = tree("{'metadata':{'name':'a'}}");
    CLEANUP_JSON json_t *definition = builtin_crd_of("gpunodes");
    s->api = api_new(&s->sim.clock);
    assert_int_equal(
        api_create(s->api, "admin", kind_named("customresourcedefinitions"), definition, NULL), 0);
    api_on_commit(s->api, on_commit, s);
    if (!said)
        return;
    assert_int_equal(api_create(s->api, "admin", gpu_nodes(), object, NULL), 0);
    if (*said)
        json_set_at(object, "status.inventory", tree(said));
    assert_int_equal(
        api_merge(s->api, NODE_FIELD_MANAGER, gpu_nodes(), NULL, "a", "status", object, NULL), 0);
}

static void begin(struct setting *s, const char *said, const struct fault *fault)
{
    *s = (struct setting){ .fault = *fault };
    s->fault.classes = FAULT_ALL_CLASSES;
    sim_init(&s->sim, 1);
    set_up_server(s, said);
    s->faults = (struct fault_plan){ .rows = &s->fault,
                                     .count = fault->nth != 0,
                                     .rng = rng_of(1) };
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .faults = &s->faults,
                                               .latency_min_ms = LATENCY_MS,
                                               .latency_max_ms = LATENCY_MS });
    s->client = wire_client_new(
        s->wire, &(struct wire_client_options){
                     .user = "agent", .user_agent = "test", .news = on_news, .arg = s });
}

static void end(struct setting *s)
{
    report_clear(&s->report);
    wire_client_free(s->client);
    wire_free(s->wire);
    fault_plan_clear(&s->faults);
    sim_clear(&s->sim);
    api_free(s->api);
}

static void say(struct setting *s, const char *seen)
{
    report_begin(&s->report, wire_client_transport(s->client), "a", tree(seen));
    sim_run_until(&s->sim, s->sim.now_ms + MINUTE_MS);
    assert_int_equal(s->report.step, REPORT_DONE);
}

static void expect_inventory(const struct setting *s, const char *after)
{
    const json_t *object = api_get(s->api, gpu_nodes(), NULL, "a");
    CLEANUP_JSON json_t *want = after && *after ? tree(after) : NULL;
    assert_int_equal(object != NULL, after != NULL);
    const json_t *got = json_at(object, "status.inventory");
    assert_true(got == want || json_equal(got, want));
}

static void check(void **state)
{
    const struct row *row = *state;
    struct setting s;
    begin(&s, row->said, &row->fault);
    say(&s, row->seen);
    expect_inventory(&s, row->after);
    assert_int_equal(s.writes, row->writes);
    assert_int_equal(s.report.absent, row->absent);
    assert_int_equal(s.report.err.kind, row->error);
    assert_int_equal(s.report.wrote, row->error == ERR_NONE && row->writes > 0);
    end(&s);
}

/* Whether it is waited for who has a GPU open, as the answer to a question or to a write says. */
static const struct state_row {
    const char *name; /* of the state */
    bool closed;
    const char *reason; /* of what it waits for */
} states[] = {
    { "Ready", false, NULL },   { "Installing", false, NULL }, { "Validating", false, NULL },
    { "Failed", false, NULL },  { "Draining", true, NULL },    { "Unloading", true, NULL },
    { "Removing", true, NULL }, { "Waiting", false, "Job" },   { "Waiting", true, "HostProcess" },
};

static void check_state(void **state)
{
    const struct state_row *row = *state;
    static const char *const seen[] = { "{" BOOT "," GPU "}",
                                        "{" BOOT ",'kernel':'6.8.0'," GPU "}" };
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        struct setting s;
        begin(&s, seen[0], &(struct fault){ 0 });
        CLEANUP_JSON json_t *object = json_pack("{s:{s:s}}", "status", "state", row->name);
        if (row->reason)
            json_set_at(
                object, "status.waitingFor",
                json_pack("[{s:s, s:s, s:s}]", "kind", "x", "name", "x", "reason", row->reason));
        assert_int_equal(api_merge(s.api, "ostler", gpu_nodes(), NULL, "a", "status", object, NULL),
                         0);
        say(&s, seen[i]);
        assert_int_equal(s.writes, i);
        assert_int_equal(s.report.closed, row->closed);
        end(&s);
    }
}

/* What Ostler has written beside it stays, whoever was first. */
static void check_other_fields(void **state)
{
    (void) state;
    struct setting s;
    CLEANUP_JSON json_t *status = tree("{'status':{'state':'Ready','gpus':8}}");
    begin(&s, "", &(struct fault){ 0 });
    assert_int_equal(api_merge(s.api, "ostler", gpu_nodes(), NULL, "a", "status", status, NULL), 0);
    say(&s, "{" BOOT "," GPU "}");
    expect_inventory(&s, "{" BOOT "," GPU "}");
    const json_t *object = api_get(s.api, gpu_nodes(), NULL, "a");
    assert_string_equal(json_str(object, "status.state"), "Ready");
    assert_int_equal(json_int(object, "status.gpus", 0), 8);
    end(&s);
}

/* What another client wrote into the inventory does not stay. */
static void check_forged_fields(void **state)
{
    (void) state;
    struct setting s;
    CLEANUP_JSON json_t *forged = tree(
        "{'status':{'inventory':{'kernel':'9.9.9','os':{'id':'other'}}}}");
    begin(&s, "{" BOOT "," GPU "}", &(struct fault){ 0 });
    assert_int_equal(api_merge(s.api, "stranger", gpu_nodes(), NULL, "a", "status", forged, NULL),
                     0);
    say(&s, "{" BOOT "," GPU "}");
    expect_inventory(&s, "{" BOOT "," GPU "}");
    end(&s);
}

/* What was read of one GpuNode is not written into another of its name. */
static void check_made_anew(void **state)
{
    (void) state;
    struct setting s;
    CLEANUP_JSON json_t *object = tree("{'metadata':{'name':'a'}}");
    begin(&s, "", &(struct fault){ 0 });
    report_begin(&s.report, wire_client_transport(s.client), "a", tree("{" GPU "}"));
    while (s.report.step != REPORT_WRITE)
        assert_true(sim_step(&s.sim, MINUTE_MS));
    assert_int_equal(api_delete(s.api, "admin", gpu_nodes(), NULL, "a", NULL, 0, NULL), 0);
    assert_int_equal(api_create(s.api, "admin", gpu_nodes(), object, NULL), 0);
    sim_run_until(&s.sim, MINUTE_MS);
    assert_int_not_equal(s.report.err.kind, ERR_NONE);
    expect_inventory(&s, "");
    end(&s);
}

/* What is to be written may depend on what was written before. */
static void add_join(void *arg, const json_t *said, json_t *inventory)
{
    unsigned *joins = arg;
    ++*joins;
    json_object_set_new(inventory, "kernel",
                        json_textf("%s+", str_or_empty(json_str(said, "kernel"))));
}

static const struct join_row {
    const char *name, *said, *after;
    unsigned writes;
} joins[] = {
    { "joined: nothing was said", "", "{" BOOT ",'kernel':'+'," GPU "}", 1 },
    { "joined: there was no GpuNode", NULL, "{" BOOT ",'kernel':'+'," GPU "}", 2 },
    { "joined: something was", "{" BOOT ",'kernel':'6'," GPU "}",
      "{" BOOT ",'kernel':'6+'," GPU "}", 1 },
};

static void check_join(void **state)
{
    const struct join_row *row = *state;
    struct setting s;
    unsigned count = 0;
    begin(&s, row->said, &(struct fault){ 0 });
    report_begin(&s.report, wire_client_transport(s.client), "a", tree("{" BOOT "," GPU "}"));
    s.report.join = add_join;
    s.report.arg = &count;
    sim_run_until(&s.sim, s.sim.now_ms + MINUTE_MS);
    assert_int_equal(count, 1);
    assert_int_equal(s.writes, row->writes);
    expect_inventory(&s, row->after);
    end(&s);
}

/* Told to end in the middle of it, it leaves nothing behind. */
static void check_ended(void **state)
{
    (void) state;
    struct setting s;
    begin(&s, "", &(struct fault){ 0 });
    report_begin(&s.report, wire_client_transport(s.client), "a", tree("{" GPU "}"));
    sim_run_until(&s.sim, LATENCY_MS);
    end(&s);
}

/* What answers with success and has no GpuNode of this name: another server, or something on the
 * way to it. */
static const struct answer_row {
    const char *name, *text;
} answers[] = {
    { "nothing in it", "{}" },
    { "a list", "[]" },
    { "a text", "'x'" },
    { "one of another name", "{'metadata':{'name':'b','uid':'u'}}" },
    { "one without a UID", "{'metadata':{'name':'a'}}" },
    { "no object", "{'metadata':'a'}" },
};

struct server {
    struct transport_sink sink;
    unsigned asked;
};

static uint64_t take_request(void *self, struct request *request_steal,
                             const struct transport_sink *sink)
{
    struct server *server = self;
    request_clear(request_steal);
    server->sink = *sink;
    return ++server->asked;
}

static void take_cancel(void *self, uint64_t id)
{
    (void) self;
    (void) id;
}

static void check_answer(void **state)
{
    const struct answer_row *row = *state;
    struct server server = { .asked = 0 };
    const struct transport transport = { take_request, take_cancel, &server };
    struct report r;
    CLEANUP_FREE char *text = json_quoted(row->text);
    report_begin(&r, &transport, "a", tree("{" BOOT "," GPU "}"));
    server.sink.on_bytes(server.sink.arg, text, strlen(text));
    server.sink.on_done(server.sink.arg,
                        &(struct transport_result){ .status = 200, .retry_after_ms = -1 });
    assert_int_equal(r.step, REPORT_DONE);
    assert_int_not_equal(r.err.kind, ERR_NONE);
    assert_false(r.wrote);
    assert_int_equal(server.asked, 1);
    report_clear(&r);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_state, states);
    SUITE_ROWS(&s, check_answer, answers);
    SUITE_ROWS(&s, check_join, joins);
    suite_add(&s, "fields of others stay", check_other_fields, NULL);
    suite_add(&s, "forged fields go", check_forged_fields, NULL);
    suite_add(&s, "made anew on the way", check_made_anew, NULL);
    suite_add(&s, "ended on the way", check_ended, NULL);
    return suite_run(&s, "report");
}
