/* The client against a server on loopback (server.py beside this file): what it sends, how answers and failures come out. */
#include "client/http.h"

#include <poll.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "client/limits.h"
#include "kube/request.h"

extern char **environ;

enum { PATIENCE_MS = 10000 };

static json_t *server; /* what the server said of itself */
static pid_t server_pid;
static int server_stdin = -1;
static struct clock clock_now;
static int64_t ahead_ms; /* of the machine's clock */

static int64_t mono_ahead(void *self)
{
    (void) self;
    const struct clock machine = clock_system();
    return clock_mono_ms(&machine) + ahead_ms;
}

/* ---- the server */

static int start_server(void **state)
{
    (void) state;
    int in[2], out[2];
    if (pipe(in) < 0 || pipe(out) < 0)
        return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addclose(&actions, in[1]);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    char *argv[] = { "python3", "tests/unit/client/server.py", NULL };
    int rc = posix_spawnp(&server_pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    server_stdin = in[1];
    char line[1024] = "";
    FILE *f = fdopen(out[0], "r");
    if (rc == 0 && fgets(line, sizeof line, f))
        server = json_parse(line, strlen(line), NULL);
    fclose(f);
    clock_now = clock_system();
    clock_now.mono_ms = mono_ahead;
    return server ? 0 : -1;
}

static int stop_server(void **state)
{
    (void) state;
    close(server_stdin);
    waitpid(server_pid, NULL, 0);
    json_decref(server);
    return 0;
}

static const char *file_of(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", json_str(server, "dir"), name);
    return path;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void copy_file(const char *from, const char *to)
{
    char text[8192];
    FILE *f = fopen(from, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    write_file(to, text);
}

/* ---- a client */

struct client {
    struct config config;
    struct http *http;
    struct transport transport;
};

/* `cluster` and `user` are members of a kubeconfig, as JSON without the braces; "" for none. */
static void client_open(struct client *c, const char *scheme, const char *port, const char *cluster, const char *user)
{
    CLEANUP_FREE char *text = xasprintf(
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: '%s://127.0.0.1:%d' %s%s}}], users: [{name: u, user: {%s}}]}",
        scheme, (int) json_int(server, port, 0), *cluster ? ", " : "", cluster, user);
    CLEANUP_FREE char *path = xstrdup(file_of("kubeconfig"));
    write_file(path, text);
    CLEANUP_ERR struct err e = { 0 };
    if (config_load(path, &c->config, &e) < 0)
        fail_msg("%s", err_msg(&e));
    c->http = http_new(&c->config, &clock_now, &e);
    assert_non_null(c->http);
    c->transport = http_transport(c->http);
}

static void client_close(struct client *c)
{
    http_free(c->http);
    config_clear(&c->config);
}

static void open_plain(struct client *c)
{
    client_open(c, "http", "plain", "", "");
}

static void open_tls(struct client *c)
{
    client_open(c, "https", "tls", "certificate-authority: ca-a.crt", "");
}

/* ---- answers */

struct answer {
    struct client *client;
    uint64_t id;
    int status_calls;
    int status;
    struct buf body;
    int pieces;
    int done;
    struct transport_result result;
    char *error;
    void (*on_piece)(struct answer *a);
    void (*on_end)(struct answer *a);
    size_t take_max; /* refuse after so many bytes; 0: take all */
    struct answer *other;
};

static void take_status(void *arg, int status)
{
    struct answer *a = arg;
    a->status_calls++;
    a->status = status;
}

static int take_bytes(void *arg, const char *bytes, size_t n)
{
    struct answer *a = arg;
    a->pieces++;
    if (a->take_max && a->body.len + n > a->take_max)
        return -1;
    assert_true(buf_add(&a->body, bytes, n));
    if (a->on_piece)
        a->on_piece(a);
    return 0;
}

static void take_done(void *arg, const struct transport_result *result)
{
    struct answer *a = arg;
    a->done++;
    a->result = *result;
    a->error = xstrdup(err_msg(&result->err));
    a->result.err = (struct err){ .kind = result->err.kind };
    if (a->on_end)
        a->on_end(a);
}

static void ask_with(struct client *c, struct answer *a, struct request r)
{
    a->client = c;
    a->body.max = 256 << 20;
    const struct transport_sink sink = { take_status, take_bytes, take_done, a };
    a->id = transport_submit(&c->transport, &r, &sink);
    assert_null(r.path);
    assert_true(a->id > 0);
    assert_int_equal(a->done, 0);
}

static void ask(struct client *c, struct answer *a, enum request_class class, const char *path)
{
    ask_with(c, a, (struct request){ .class = class, .method = "GET", .path = xstrdup(path), .timeout_ms = 5000 });
}

static void answer_clear(struct answer *a)
{
    buf_clear(&a->body);
    free(a->error);
    *a = (struct answer){ 0 };
}

/* One turn, when there is something to do within `ms`. */
static void turn(struct client *c, int64_t ms)
{
    int64_t now = clock_mono_ms(&clock_now);
    int64_t deadline = http_deadline(c->http);
    int64_t wait = deadline < now ? 0 : deadline - now < ms ? deadline - now : ms;
    struct pollfd p = { .fd = http_fd(c->http), .events = POLLIN };
    poll(&p, 1, (int) wait);
    http_turn(c->http);
}

static void run_until(struct client *c, const int *flag)
{
    int64_t end = clock_mono_ms(&clock_now) + PATIENCE_MS;
    while (!*flag && clock_mono_ms(&clock_now) < end)
        turn(c, 100);
    assert_true(*flag);
}

static void run_for(struct client *c, int64_t ms)
{
    int64_t end = clock_mono_ms(&clock_now) + ms;
    while (clock_mono_ms(&clock_now) < end)
        turn(c, 10);
}

static void get(struct client *c, struct answer *a, const char *path)
{
    answer_clear(a);
    ask(c, a, REQUEST_READ, path);
    run_until(c, &a->done);
}

static void expect_error(const struct answer *a, enum err_kind kind, const char *part)
{
    if (a->result.err.kind != kind || !strstr(a->error, part))
        fail_msg("got %s: %s", err_kind_name(a->result.err.kind), a->error);
}

static void expect_ok(const struct answer *a)
{
    if (a->result.err.kind != ERR_NONE || a->status != 200)
        fail_msg("got status %d, %s", a->status, a->error);
}

static json_t *echoed(const struct answer *a)
{
    expect_ok(a);
    return json_parse(a->body.data, a->body.len, NULL);
}

static int64_t connection_of(const struct answer *a)
{
    CLEANUP_JSON json_t *echo = echoed(a);
    return json_int(echo, "connection", -1);
}

/* ---- what is sent */

static void sends_what_the_request_says(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca-a.crt", "token: secret");
    free(c.config.user_agent);
    c.config.user_agent = xstrdup("ostler/1.2");
    struct answer a = { 0 };
    ask_with(&c, &a, (struct request){ .class = REQUEST_WRITE, .method = "PATCH", .path = xstrdup("/api/x?force=true"),
                                       .content_type = "application/apply-patch+yaml", .body = xstrdup("{\"a\":1}"),
                                       .timeout_ms = 5000 });
    run_until(&c, &a.done);
    CLEANUP_JSON json_t *echo = echoed(&a);
    const json_t *headers = json_at(echo, "headers");
    assert_string_equal(json_str(echo, "method"), "PATCH");
    assert_string_equal(json_str(echo, "path"), "/api/x?force=true");
    assert_string_equal(json_str(echo, "body"), "{\"a\":1}");
    assert_string_equal(json_key(headers, "Authorization"), "Bearer secret");
    assert_string_equal(json_key(headers, "Content-Type"), "application/apply-patch+yaml");
    assert_string_equal(json_key(headers, "Accept"), "application/json");
    assert_string_equal(json_key(headers, "User-Agent"), "ostler/1.2");
    assert_null(json_key(headers, "Expect"));
    assert_null(json_key(headers, "Accept-Encoding"));
    assert_int_equal(a.status_calls, 1);
    assert_int_equal(a.result.status, 200);
    assert_int_equal(a.result.retry_after_ms, -1);
    answer_clear(&a);
    client_close(&c);
}

static void every_method_is_sent(void **state)
{
    (void) state;
    static const char *const methods[] = { "GET", "POST", "PUT", "DELETE" };
    struct client c;
    open_plain(&c);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct answer a = { 0 };
        bool body = i > 0;
        ask_with(&c, &a, (struct request){ .class = REQUEST_WRITE, .method = methods[i], .path = xstrdup("/x"),
                                           .content_type = body ? "application/json" : NULL,
                                           .body = body ? xstrdup("{}") : NULL });
        run_until(&c, &a.done);
        CLEANUP_JSON json_t *echo = echoed(&a);
        assert_string_equal(json_str(echo, "method"), methods[i]);
        assert_string_equal(json_str(echo, "body"), body ? "{}" : "");
        answer_clear(&a);
    }
    client_close(&c);
}

static void token_is_not_sent_in_the_clear(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "http", "plain", "", "token: secret");
    struct answer a = { 0 };
    get(&c, &a, "/echo");
    CLEANUP_JSON json_t *echo = echoed(&a);
    assert_null(json_key(json_at(echo, "headers"), "Authorization"));
    answer_clear(&a);
    client_close(&c);
}

static void base_path_goes_before_every_path(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    free(c.config.server.base_path);
    c.config.server.base_path = xstrdup("/k8s/clusters/c-1");
    struct answer a = { 0 };
    get(&c, &a, "/api/v1/nodes");
    CLEANUP_JSON json_t *echo = echoed(&a);
    assert_string_equal(json_str(echo, "path"), "/k8s/clusters/c-1/api/v1/nodes");
    answer_clear(&a);
    client_close(&c);
}

static void environment_proxies_do_not_count(void **state)
{
    (void) state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("HTTPS_PROXY", "http://127.0.0.1:1", 1);
    struct client c;
    open_tls(&c);
    struct answer a = { 0 };
    get(&c, &a, "/echo");
    expect_ok(&a);
    client_close(&c);
    open_plain(&c);
    get(&c, &a, "/echo");
    expect_ok(&a);
    client_close(&c);
    unsetenv("http_proxy");
    unsetenv("HTTPS_PROXY");
    answer_clear(&a);
}

/* ---- what comes back */

static void a_body_in_pieces_is_whole(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    get(&c, &a, "/chunks");
    expect_ok(&a);
    assert_string_equal(buf_text(&a.body), "{\"type\":\"ADDED\"}\n");
    answer_clear(&a);
    client_close(&c);
}

static void a_refusal_has_its_body(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    get(&c, &a, "/gone");
    assert_int_equal(a.status, 410);
    assert_int_equal(a.result.err.kind, ERR_NONE);
    assert_non_null(strstr(buf_text(&a.body), "Expired"));
    answer_clear(&a);
    client_close(&c);
}

static void retry_after_is_read(void **state)
{
    (void) state;
    static const struct {
        const char *path;
        int64_t ms;
    } cases[] = {
        { "/retry?7", 7000 }, { "/retry?0", 0 }, { "/retry?-1", -1 }, { "/retry?1.5", -1 },
        { "/retry?Fri,+20+Nov+2026+10:00:00+GMT", -1 },
    };
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        get(&c, &a, cases[i].path);
        assert_int_equal(a.result.status, 429);
        assert_int_equal(a.result.retry_after_ms, cases[i].ms);
    }
    answer_clear(&a);
    client_close(&c);
}

static void warnings_do_no_harm(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    get(&c, &a, "/warn");
    expect_ok(&a);
    get(&c, &a, "/warn");
    expect_ok(&a);
    answer_clear(&a);
    client_close(&c);
}

static void redirects_are_not_followed(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    get(&c, &a, "/redirect");
    assert_int_equal(a.result.status, 302);
    answer_clear(&a);
    client_close(&c);
}

static void only_reads_come_compressed(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    get(&c, &a, "/gzip");
    assert_string_equal(buf_text(&a.body), "{\"packed\":true}");
    answer_clear(&a);
    ask(&c, &a, REQUEST_WATCH, "/gzip");
    run_until(&c, &a.done);
    assert_string_equal(buf_text(&a.body), "{\"packed\":false}");
    c.config.compression = false;
    get(&c, &a, "/gzip");
    assert_string_equal(buf_text(&a.body), "{\"packed\":false}");
    answer_clear(&a);
    client_close(&c);
}

static const struct page_case {
    const char *name;
    enum request_class class; /* only reads come compressed */
    const char *pace;
} page_cases[] = {
    { "a large page, compressed and at once", REQUEST_READ, "fast" },
    { "a large page, compressed and slowly", REQUEST_READ, "slow" },
    { "a large page, plain and at once", REQUEST_WRITE, "fast" },
    { "a large page, plain and slowly", REQUEST_WRITE, "slow" },
};

/* Far more than the receive buffer, and than a turn takes: nothing may be left in a buffer below that nobody asks again. */
static void check_page(void **state)
{
    enum { MIB = 11 };
    const struct page_case *p = *state;
    struct client c;
    open_tls(&c);
    CLEANUP_FREE char *path = xasprintf("/page?%d&%s", MIB, p->pace);
    struct answer a = { 0 }, beside = { 0 };
    ask(&c, &a, p->class, path);
    ask(&c, &beside, p->class, path);
    run_until(&c, &a.done);
    run_until(&c, &beside.done);
    expect_ok(&a);
    expect_ok(&beside);
    assert_int_equal(a.body.len, MIB << 20);
    assert_int_equal(beside.body.len, MIB << 20);
    assert_memory_equal(a.body.data, beside.body.data, a.body.len);
    answer_clear(&a);
    answer_clear(&beside);
    client_close(&c);
}

/* ---- what goes wrong */

static const struct failure_case {
    const char *name;
    const char *path;
    enum err_kind kind;
    const char *part;
    int status;
} failure_cases[] = {
    { "a cut body is no answer", "/cut", ERR_UNREACHABLE, "broke", 200 },
    { "a reset connection is no answer", "/reset", ERR_UNREACHABLE, "broke", 0 },
    { "too long a body is refused", "/big?65", ERR_TOO_LARGE, "GET /big?65: the answer is too long", 200 },
    { "too long a header is refused", "/long-header", ERR_TOO_LARGE, "header", 0 },
};

static void check_failure(void **state)
{
    const struct failure_case *f = *state;
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    get(&c, &a, f->path);
    expect_error(&a, f->kind, f->part);
    assert_int_equal(a.done, 1);
    if (f->status)
        assert_int_equal(a.status, f->status);
    answer_clear(&a);
    client_close(&c);
}

static void no_answer_in_time(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { 0 };
    ask_with(&c, &a, (struct request){ .class = REQUEST_WRITE, .method = "GET", .path = xstrdup("/hang"), .timeout_ms = 200 });
    run_until(&c, &a.done);
    expect_error(&a, ERR_TIMEOUT, "no answer from http://127.0.0.1:");
    answer_clear(&a);
    client_close(&c);
}

static void nobody_listens(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "http", "refused", "", "");
    struct answer a = { 0 };
    get(&c, &a, "/");
    expect_error(&a, ERR_UNREACHABLE, "cannot connect to http://127.0.0.1:");
    expect_error(&a, ERR_UNREACHABLE, "Connection refused");
    answer_clear(&a);
    client_close(&c);
}

static void unknown_host(void **state)
{
    (void) state;
    struct client c;
    open_tls(&c);
    endpoint_clear(&c.config.server);
    assert_int_equal(endpoint_parse("https://nowhere.invalid:6443", &c.config.server, NULL), 0);
    struct answer a = { 0 };
    get(&c, &a, "/");
    expect_error(&a, ERR_UNREACHABLE, "cannot find the address of https://nowhere.invalid:6443");
    answer_clear(&a);
    client_close(&c);
}

static void a_sink_may_refuse(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { .take_max = 100000 };
    ask(&c, &a, REQUEST_WATCH, "/stream");
    run_until(&c, &a.done);
    expect_error(&a, ERR_TOO_LARGE, "not taken");
    assert_true(a.body.len <= 100000);
    answer_clear(&a);
    client_close(&c);
}

/* ---- cancelling, and calls from inside of sinks */

static void cancelled_requests_are_silent(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer waiting = { 0 }, running = { 0 }, kept = { 0 };
    ask(&c, &waiting, REQUEST_READ, "/echo");
    transport_cancel(&c.transport, waiting.id);
    ask(&c, &running, REQUEST_WATCH, "/ticks");
    run_until(&c, &running.pieces);
    transport_cancel(&c.transport, running.id);
    transport_cancel(&c.transport, running.id);
    transport_cancel(&c.transport, 12345);
    int pieces = running.pieces;
    ask(&c, &kept, REQUEST_READ, "/slow?0.1");
    run_until(&c, &kept.done);
    expect_ok(&kept);
    assert_int_equal(waiting.status_calls + waiting.done + running.done, 0);
    assert_int_equal(running.pieces, pieces);
    answer_clear(&running);
    answer_clear(&kept);
    client_close(&c);
}

static void cancel_self(struct answer *a)
{
    transport_cancel(&a->client->transport, a->id);
}

static void cancel_other(struct answer *a)
{
    if (a->other)
        transport_cancel(&a->client->transport, a->other->id);
    a->other = NULL;
}

static void ask_other(struct answer *a)
{
    if (a->other)
        ask(a->client, a->other, REQUEST_READ, "/echo");
    a->other = NULL;
}

static void a_sink_may_cancel_itself(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer a = { .on_piece = cancel_self }, ended = { .on_end = cancel_self };
    ask(&c, &a, REQUEST_WATCH, "/stream");
    get(&c, &ended, "/slow?0.2");
    assert_int_equal(a.pieces, 1);
    assert_int_equal(a.done, 0);
    assert_int_equal(ended.done, 1);
    answer_clear(&a);
    answer_clear(&ended);
    client_close(&c);
}

static void a_sink_may_cancel_others(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer b = { 0 }, a = { .on_piece = cancel_other, .other = &b }, end = { 0 };
    struct answer d = { 0 }, on_end = { .on_end = cancel_other, .other = &d };
    ask(&c, &b, REQUEST_WATCH, "/ticks");
    ask(&c, &d, REQUEST_WATCH, "/ticks");
    run_until(&c, &b.pieces);
    run_until(&c, &d.pieces);
    ask(&c, &a, REQUEST_READ, "/echo");
    ask(&c, &on_end, REQUEST_READ, "/echo");
    run_until(&c, &a.done);
    run_until(&c, &on_end.done);
    int b_pieces = b.pieces, d_pieces = d.pieces;
    get(&c, &end, "/slow?0.2");
    assert_int_equal(b.pieces, b_pieces);
    assert_int_equal(d.pieces, d_pieces);
    assert_int_equal(b.done + d.done, 0);
    struct answer *all[] = { &a, &b, &d, &on_end, &end };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        answer_clear(all[i]);
    client_close(&c);
}

static void a_sink_may_submit(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer second = { 0 }, third = { 0 };
    struct answer a = { .on_piece = ask_other, .other = &second };
    struct answer b = { .on_end = ask_other, .other = &third };
    ask(&c, &a, REQUEST_READ, "/echo");
    ask(&c, &b, REQUEST_READ, "/echo");
    run_until(&c, &second.done);
    run_until(&c, &third.done);
    expect_ok(&second);
    expect_ok(&third);
    struct answer *all[] = { &a, &b, &second, &third };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        answer_clear(all[i]);
    client_close(&c);
}

static void ending_with_requests_under_way(void **state)
{
    (void) state;
    struct client c;
    open_tls(&c);
    struct answer answers[4] = { 0 };
    ask(&c, &answers[0], REQUEST_WATCH, "/ticks");
    ask(&c, &answers[1], REQUEST_READ, "/hang");
    run_until(&c, &answers[0].pieces);
    ask(&c, &answers[2], REQUEST_LEASE, "/hang");
    http_turn(c.http);
    ask(&c, &answers[3], REQUEST_READ, "/echo");
    int64_t before = clock_mono_ms(&clock_now);
    client_close(&c);
    assert_true(clock_mono_ms(&clock_now) - before < 500);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        assert_int_equal(answers[i].done, 0);
        answer_clear(&answers[i]);
    }
}

/* ---- connections */

static void connections_are_kept_and_apart(void **state)
{
    (void) state;
    static const enum request_class classes[] = { REQUEST_READ, REQUEST_WRITE, REQUEST_LEASE, REQUEST_WATCH };
    int64_t first[4], second[4];
    struct client c;
    open_tls(&c);
    struct answer a = { 0 };
    for (size_t i = 0; i < 8; i++) {
        answer_clear(&a);
        ask(&c, &a, classes[i % 4], "/echo");
        run_until(&c, &a.done);
        (i < 4 ? first : second)[i % 4] = connection_of(&a);
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(first[i], second[i]);
    assert_int_equal(first[0], first[1]); /* reads and writes share */
    assert_int_not_equal(first[1], first[2]);
    assert_int_not_equal(first[1], first[3]);
    assert_int_not_equal(first[2], first[3]);
    answer_clear(&a);
    client_close(&c);
}

static void a_turn_is_bounded(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer flood = { 0 }, other = { 0 };
    flood.body.max = 1 << 30;
    ask(&c, &flood, REQUEST_WATCH, "/stream");
    run_until(&c, &flood.pieces);
    for (int i = 0; i < 50; i++) {
        size_t before = flood.body.len;
        turn(&c, 100);
        if (flood.body.len - before > 3 * 100 * RECEIVE_BUFFER_BYTES)
            fail_msg("%zu bytes in a turn", flood.body.len - before);
    }
    get(&c, &other, "/echo");
    expect_ok(&other);
    answer_clear(&flood);
    answer_clear(&other);
    client_close(&c);
}

static void a_connection_without_an_answer_is_left(void **state)
{
    (void) state;
    static const enum request_class classes[] = { REQUEST_READ, REQUEST_WRITE, REQUEST_LEASE };
    struct client c;
    open_tls(&c);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        struct answer a = { 0 };
        ask(&c, &a, classes[i], "/echo");
        run_until(&c, &a.done);
        int64_t before = connection_of(&a);
        answer_clear(&a);
        ask_with(&c, &a, (struct request){ .class = classes[i], .method = "GET", .path = xstrdup("/hang"), .timeout_ms = 100 });
        run_until(&c, &a.done);
        expect_error(&a, ERR_TIMEOUT, "no answer from");
        answer_clear(&a);
        ask(&c, &a, classes[i], "/echo");
        run_until(&c, &a.done);
        assert_int_not_equal(connection_of(&a), before);
        answer_clear(&a);
    }
    client_close(&c);
}

/* Requests of one class, many more than run at a time. */
enum { CROWD = 40 };

static void ask_crowd(struct client *c, struct answer crowd[CROWD], enum request_class class, const char *path)
{
    for (size_t i = 0; i < CROWD; i++)
        ask(c, &crowd[i], class, path);
    for (size_t i = 0; i < CROWD; i++)
        run_until(c, &crowd[i].done);
}

static size_t count_connections(const struct answer crowd[CROWD])
{
    size_t n = 0;
    for (size_t i = 0; i < CROWD; i++) {
        size_t same = 0;
        while (same < i && connection_of(&crowd[same]) != connection_of(&crowd[i]))
            same++;
        n += same == i;
    }
    return n;
}

static void reads_wait_for_room(void **state)
{
    (void) state;
    struct client c;
    open_tls(&c);
    struct answer crowd[CROWD] = { 0 };
    ask_crowd(&c, crowd, REQUEST_READ, "/slow?0.02");
    assert_int_equal(count_connections(crowd), READ_CONNECTIONS);
    for (size_t i = 0; i < CROWD; i++)
        answer_clear(&crowd[i]);
    client_close(&c);
}

static void waiting_does_not_count_as_time(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer crowd[READ_CONNECTIONS] = { 0 }, last = { 0 };
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        ask(&c, &crowd[i], REQUEST_READ, "/slow?0.5");
    ask_with(&c, &last, (struct request){ .class = REQUEST_READ, .method = "GET", .path = xstrdup("/echo"), .timeout_ms = 300 });
    run_until(&c, &last.done);
    expect_ok(&last);
    for (size_t i = 0; i < READ_CONNECTIONS; i++) {
        assert_int_equal(crowd[i].done, 1);
        answer_clear(&crowd[i]);
    }
    answer_clear(&last);
    client_close(&c);
}

static void a_waiting_read_may_be_cancelled(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer crowd[READ_CONNECTIONS] = { 0 }, cancelled = { 0 }, last = { 0 };
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        ask(&c, &crowd[i], REQUEST_READ, "/slow?0.1");
    ask(&c, &cancelled, REQUEST_READ, "/echo");
    run_for(&c, 20);
    transport_cancel(&c.transport, cancelled.id);
    transport_cancel(&c.transport, crowd[0].id); /* makes room */
    get(&c, &last, "/echo");
    expect_ok(&last);
    run_until(&c, &crowd[READ_CONNECTIONS - 1].done);
    assert_int_equal(cancelled.done + crowd[0].done, 0);
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        answer_clear(&crowd[i]);
    answer_clear(&last);
    client_close(&c);
}

static void writes_do_not_wait(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    struct answer crowd[READ_CONNECTIONS] = { 0 }, write = { 0 };
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        ask(&c, &crowd[i], REQUEST_READ, "/slow?0.5");
    ask(&c, &write, REQUEST_WRITE, "/echo");
    run_until(&c, &write.done);
    expect_ok(&write);
    assert_int_equal(crowd[0].done, 0);
    for (size_t i = 0; i < READ_CONNECTIONS; i++) {
        run_until(&c, &crowd[i].done);
        answer_clear(&crowd[i]);
    }
    answer_clear(&write);
    client_close(&c);
}

static void many_writes_share_few_connections(void **state)
{
    (void) state;
    struct client c;
    open_tls(&c);
    struct answer crowd[CROWD] = { 0 };
    for (size_t i = 0; i < CROWD; i++) { /* eight at a time, as who writes does */
        ask(&c, &crowd[i], REQUEST_WRITE, "/slow?0.01");
        if (i >= 7)
            run_until(&c, &crowd[i - 7].done);
    }
    for (size_t i = 0; i < CROWD; i++)
        run_until(&c, &crowd[i].done);
    assert_true(count_connections(crowd) <= 8);
    for (size_t i = 0; i < CROWD; i++)
        answer_clear(&crowd[i]);
    client_close(&c);
}

static void idle_connections_are_closed(void **state)
{
    (void) state;
    struct client c;
    open_tls(&c);
    struct answer a = { 0 }, watch = { 0 };
    ask_with(&c, &watch, (struct request){ .class = REQUEST_WATCH, .method = "GET", .path = xstrdup("/ticks"), .timeout_ms = 600000 });
    get(&c, &a, "/echo");
    int64_t first = connection_of(&a);
    run_until(&c, &watch.pieces);
    get(&c, &a, "/echo");
    assert_int_equal(connection_of(&a), first);
    int64_t deadline = http_deadline(c.http);
    assert_true(deadline < INT64_MAX);

    ahead_ms += IDLE_CLOSE_MS;
    http_turn(c.http);
    assert_true(http_deadline(c.http) > deadline); /* nothing is left to wake up for, but the watch's own time */
    int pieces = watch.pieces;
    get(&c, &a, "/echo");
    assert_int_not_equal(connection_of(&a), first);
    run_for(&c, 50);
    assert_true(watch.pieces > pieces && !watch.done);
    answer_clear(&a);
    answer_clear(&watch);
    client_close(&c);
}

static void a_slow_request_ends_no_other(void **state)
{
    (void) state;
    struct client c;
    open_tls(&c);
    struct answer slow = { 0 }, other = { 0 }, quick = { 0 };
    ask_with(&c, &slow, (struct request){ .class = REQUEST_WRITE, .method = "GET", .path = xstrdup("/hang"), .timeout_ms = 400 });
    ask(&c, &other, REQUEST_WRITE, "/slow?0.8");
    run_for(&c, 100);
    get(&c, &quick, "/echo");
    run_until(&c, &slow.done);
    expect_error(&slow, ERR_TIMEOUT, "");
    run_until(&c, &other.done);
    expect_ok(&other);
    answer_clear(&slow);
    answer_clear(&other);
    answer_clear(&quick);
    client_close(&c);
}

/* ---- TLS */

static const struct tls_case {
    const char *name;
    const char *port;
    const char *cluster;
    const char *user;
    const char *error; /* NULL: it works */
} tls_cases[] = {
    { "the right authority", "tls", "certificate-authority: ca-a.crt", "", NULL },
    { "another authority", "tls", "certificate-authority: ca-b.crt", "", "is not signed by the certificate authority: check certificate-authority" },
    { "the system's authorities", "tls", "", "", "is not signed by the certificate authority" },
    { "no check wanted", "tls", "insecure-skip-tls-verify: true", "", NULL },
    { "an expired server", "expired", "certificate-authority: ca-a.crt", "", "has expired: renew it on the server" },
    { "another name", "named", "certificate-authority: ca-a.crt", "", "is for another name" },
    { "another name that is configured", "named", "certificate-authority: ca-a.crt, tls-server-name: kubernetes.test", "", NULL },
    { "no TLS there", "plain", "certificate-authority: ca-a.crt", "", "does not speak TLS on this port" },
    { "a client certificate", "mtls", "certificate-authority: ca-a.crt", "client-certificate: client.crt, client-key: client.key", NULL },
    { "no client certificate", "mtls", "certificate-authority: ca-a.crt", "", "wants a client certificate" },
    { "an expired client certificate", "mtls", "certificate-authority: ca-a.crt",
      "client-certificate: client-expired.crt, client-key: client-expired.key", "our client certificate has expired" },
    { "somebody else's key", "mtls", "certificate-authority: ca-a.crt", "client-certificate: client.crt, client-key: ca-b.key",
      "the client certificate and key cannot be used" },
};

static void check_tls(void **state)
{
    const struct tls_case *t = *state;
    struct client c;
    client_open(&c, "https", t->port, t->cluster, t->user);
    static const enum request_class classes[] = { REQUEST_READ, REQUEST_WATCH };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        struct answer a = { 0 };
        ask(&c, &a, classes[i], "/echo");
        run_until(&c, &a.done);
        if (t->error)
            expect_error(&a, ERR_UNREACHABLE, t->error);
        else
            expect_ok(&a);
        answer_clear(&a);
    }
    client_close(&c);
}

static void host_header_is_the_real_host(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "https", "named", "certificate-authority: ca-a.crt, tls-server-name: kubernetes.test", "");
    struct answer a = { 0 };
    get(&c, &a, "/echo");
    CLEANUP_JSON json_t *echo = echoed(&a);
    CLEANUP_FREE char *host = xasprintf("127.0.0.1:%d", (int) json_int(server, "named", 0));
    assert_string_equal(json_key(json_at(echo, "headers"), "Host"), host);
    answer_clear(&a);
    client_close(&c);
}

static const struct refusal_case {
    const char *name;
    const char *user;
    const char *part;
} refusal_cases[] = {
    { "401 with an expired certificate", "client-certificate: client-expired.crt, client-key: client-expired.key",
      "our client certificate expired on 20" },
    { "401 with a certificate", "client-certificate: client.crt, client-key: client.key", "does not accept our client certificate" },
    { "401 with a token", "token: wrong", "does not accept our token: get another one" },
    { "401 with a token from a file", "tokenFile: wrong-token", "does not accept our token from /" },
    { "401 without credentials", "", "wants credentials, and there are none" },
};

static void check_refusal(void **state)
{
    const struct refusal_case *r = *state;
    write_file(file_of("wrong-token"), "wrong");
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca-a.crt", r->user);
    struct answer a = { 0 };
    get(&c, &a, "/token?right");
    assert_int_equal(a.result.status, 401);
    expect_error(&a, ERR_UNAUTHORIZED, r->part);
    answer_clear(&a);
    client_close(&c);
}

static void a_renewed_token_is_used_after_401(void **state)
{
    (void) state;
    write_file(file_of("token"), "old\n");
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca-a.crt", "tokenFile: token");
    struct answer a = { 0 };
    get(&c, &a, "/token?old");
    expect_ok(&a);
    write_file(file_of("token"), "new\n");
    get(&c, &a, "/token?old");
    expect_ok(&a); /* not a minute later: the file is not looked at */
    get(&c, &a, "/token?new");
    assert_int_equal(a.result.status, 401);
    get(&c, &a, "/token?new");
    expect_ok(&a);
    write_file(file_of("token"), ""); /* the last good one stays */
    get(&c, &a, "/token?other");
    assert_int_equal(a.result.status, 401);
    get(&c, &a, "/token?new");
    expect_ok(&a);
    answer_clear(&a);
    client_close(&c);
}

static void a_renewed_authority_is_used(void **state)
{
    (void) state;
    copy_file(file_of("ca-a.crt"), file_of("ca.crt"));
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca.crt", "");
    struct answer a = { 0 }, watch = { 0 };
    get(&c, &a, "/echo");
    expect_ok(&a);
    ask(&c, &watch, REQUEST_WATCH, "/ticks");
    run_until(&c, &watch.pieces);

    copy_file(file_of("ca-b.crt"), file_of("ca.crt"));
    config_doubt(&c.config); /* as if a minute had passed */
    get(&c, &a, "/echo");    /* the old connection, which would still work, is not used */
    expect_error(&a, ERR_UNREACHABLE, "is not signed by");
    run_until(&c, &watch.done); /* nor goes a watch on */
    expect_error(&watch, ERR_UNREACHABLE, "broke");

    copy_file(file_of("ca-a.crt"), file_of("ca.crt"));
    get(&c, &a, "/echo"); /* the refusal was reason enough to read it again */
    expect_ok(&a);
    answer_clear(&a);
    answer_clear(&watch);
    client_close(&c);
}

static void a_renewed_client_certificate_is_used(void **state)
{
    (void) state;
    copy_file(file_of("client.crt"), file_of("me.crt"));
    copy_file(file_of("client.key"), file_of("me.key"));
    struct client c;
    client_open(&c, "https", "mtls", "certificate-authority: ca-a.crt", "client-certificate: me.crt, client-key: me.key");
    struct answer a = { 0 };
    get(&c, &a, "/echo");
    CLEANUP_JSON json_t *first = echoed(&a);
    assert_string_equal(json_str(first, "peer.commonName"), "client");
    copy_file(file_of("client-2.crt"), file_of("me.crt"));
    copy_file(file_of("client-2.key"), file_of("me.key"));
    config_doubt(&c.config);
    get(&c, &a, "/echo");
    CLEANUP_JSON json_t *second = echoed(&a);
    assert_string_equal(json_str(second, "peer.commonName"), "client-2");
    answer_clear(&a);
    client_close(&c);
}

static void nothing_to_do_means_no_deadline(void **state)
{
    (void) state;
    struct client c;
    open_plain(&c);
    assert_true(http_deadline(c.http) == INT64_MAX);
    struct answer a = { 0 };
    get(&c, &a, "/echo");
    run_for(&c, 50);
    assert_true(http_deadline(c.http) > clock_mono_ms(&clock_now) + IDLE_CLOSE_MS / 2);
    ahead_ms += IDLE_CLOSE_MS;
    http_turn(c.http);
    assert_true(http_deadline(c.http) == INT64_MAX);
    answer_clear(&a);
    client_close(&c);
}

int main(void)
{
    mem_hook_jansson();
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(sends_what_the_request_says),
        cmocka_unit_test(every_method_is_sent),
        cmocka_unit_test(token_is_not_sent_in_the_clear),
        cmocka_unit_test(base_path_goes_before_every_path),
        cmocka_unit_test(environment_proxies_do_not_count),
        cmocka_unit_test(a_body_in_pieces_is_whole),
        cmocka_unit_test(a_refusal_has_its_body),
        cmocka_unit_test(retry_after_is_read),
        cmocka_unit_test(warnings_do_no_harm),
        cmocka_unit_test(redirects_are_not_followed),
        cmocka_unit_test(only_reads_come_compressed),
        cmocka_unit_test(no_answer_in_time),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(unknown_host),
        cmocka_unit_test(a_sink_may_refuse),
        cmocka_unit_test(cancelled_requests_are_silent),
        cmocka_unit_test(a_sink_may_cancel_itself),
        cmocka_unit_test(a_sink_may_cancel_others),
        cmocka_unit_test(a_sink_may_submit),
        cmocka_unit_test(ending_with_requests_under_way),
        cmocka_unit_test(connections_are_kept_and_apart),
        cmocka_unit_test(a_turn_is_bounded),
        cmocka_unit_test(a_connection_without_an_answer_is_left),
        cmocka_unit_test(reads_wait_for_room),
        cmocka_unit_test(waiting_does_not_count_as_time),
        cmocka_unit_test(a_waiting_read_may_be_cancelled),
        cmocka_unit_test(writes_do_not_wait),
        cmocka_unit_test(many_writes_share_few_connections),
        cmocka_unit_test(idle_connections_are_closed),
        cmocka_unit_test(a_slow_request_ends_no_other),
        cmocka_unit_test(host_header_is_the_real_host),
        cmocka_unit_test(a_renewed_token_is_used_after_401),
        cmocka_unit_test(a_renewed_authority_is_used),
        cmocka_unit_test(a_renewed_client_certificate_is_used),
        cmocka_unit_test(nothing_to_do_means_no_deadline),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(page_cases) + ARRAY_LEN(failure_cases) + ARRAY_LEN(tls_cases) +
                            ARRAY_LEN(refusal_cases)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[n++] = plain[i];
    for (size_t i = 0; i < ARRAY_LEN(page_cases); i++)
        tests[n++] = (struct CMUnitTest){ .name = page_cases[i].name, .test_func = check_page,
                                          .initial_state = (void *) &page_cases[i] };
    for (size_t i = 0; i < ARRAY_LEN(failure_cases); i++)
        tests[n++] = (struct CMUnitTest){ .name = failure_cases[i].name, .test_func = check_failure,
                                          .initial_state = (void *) &failure_cases[i] };
    for (size_t i = 0; i < ARRAY_LEN(tls_cases); i++)
        tests[n++] = (struct CMUnitTest){ .name = tls_cases[i].name, .test_func = check_tls,
                                          .initial_state = (void *) &tls_cases[i] };
    for (size_t i = 0; i < ARRAY_LEN(refusal_cases); i++)
        tests[n++] = (struct CMUnitTest){ .name = refusal_cases[i].name, .test_func = check_refusal,
                                          .initial_state = (void *) &refusal_cases[i] };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
