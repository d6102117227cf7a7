#include "tests/unit/support/client.h"

#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "client/config_load.h"

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

const char *client_file(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", json_str(server, "dir"), name);
    return path;
}

void client_write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

void client_copy_file(const char *from, const char *to)
{
    char text[8192];
    FILE *f = fopen(from, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    client_write_file(to, text);
}

int client_server_port(const char *kind)
{
    return (int) json_int(server, kind, 0);
}

/* ---- time */

int64_t client_now_ms(void)
{
    return clock_mono_ms(&clock_now);
}

void client_advance(int64_t ms)
{
    ahead_ms += ms;
}

/* ---- a client */

void client_open(struct client *c, const char *scheme, const char *kind, const char *cluster,
                 const char *user)
{
    CLEANUP_FREE char *text = xasprintf(
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: '%s://127.0.0.1:%d' %s%s}}], users: [{name: u, "
        "user: {%s}}]}",
        scheme, client_server_port(kind), *cluster ? ", " : "", cluster, user);
    CLEANUP_FREE char *path = xstrdup(client_file("kubeconfig"));
    client_write_file(path, text);
    CLEANUP_ERR struct err e = { 0 };
    if (config_load(path, NULL, &c->config, &e) < 0)
        fail_msg("%s", err_msg(&e));
    c->http = http_new(&c->config, &clock_now, &e);
    assert_non_null(c->http);
    c->transport = http_transport(c->http);
}

void client_close(struct client *c)
{
    http_free(c->http);
    config_clear(&c->config);
}

void client_open_plain(struct client *c)
{
    client_open(c, "http", "plain", "", "");
}

void client_open_tls(struct client *c)
{
    client_open(c, "https", "tls", "certificate-authority: ca-a.crt", "");
}

/* ---- answers */

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

void client_ask_with(struct client *c, struct answer *a, struct request r)
{
    a->client = c;
    a->body.max = 256 << 20;
    const struct transport_sink sink = { take_status, take_bytes, take_done, a };
    a->id = transport_submit(&c->transport, &r, &sink);
    assert_null(r.path);
    assert_true(a->id > 0);
    assert_int_equal(a->done, 0);
}

void client_ask(struct client *c, struct answer *a, enum request_class class, const char *path)
{
    client_ask_with(
        c, a,
        (struct request){
            .class = class, .method = "GET", .path = xstrdup(path), .timeout_ms = 5000 });
}

void answer_clear(struct answer *a)
{
    buf_clear(&a->body);
    free(a->error);
    *a = (struct answer){ 0 };
}

void client_turn(struct client *c, int64_t ms)
{
    int64_t now = client_now_ms();
    int64_t deadline = http_deadline(c->http);
    int64_t wait = deadline < now ? 0 : deadline - now < ms ? deadline - now : ms;
    struct pollfd p = { .fd = http_fd(c->http), .events = POLLIN };
    poll(&p, 1, (int) wait);
    http_turn(c->http);
}

void client_run_until(struct client *c, const int *flag)
{
    int64_t end = client_now_ms() + PATIENCE_MS;
    while (!*flag && client_now_ms() < end)
        client_turn(c, 100);
    assert_true(*flag);
}

void client_run_for(struct client *c, int64_t ms)
{
    int64_t end = client_now_ms() + ms;
    while (client_now_ms() < end)
        client_turn(c, 10);
}

void client_get(struct client *c, struct answer *a, const char *path)
{
    answer_clear(a);
    client_ask(c, a, REQUEST_READ, path);
    client_run_until(c, &a->done);
}

void answer_expect_error(const struct answer *a, enum err_kind kind, const char *part)
{
    if (a->result.err.kind != kind || !strstr(a->error, part))
        fail_msg("got %s: %s", err_kind_name(a->result.err.kind), a->error);
}

void answer_expect_ok(const struct answer *a)
{
    if (a->result.err.kind != ERR_NONE || a->status != 200)
        fail_msg("got status %d, %s", a->status, a->error);
}

json_t *answer_echo(const struct answer *a)
{
    answer_expect_ok(a);
    return json_parse(a->body.data, a->body.len, NULL);
}

int64_t answer_connection(const struct answer *a)
{
    CLEANUP_JSON json_t *echo = answer_echo(a);
    return json_int(echo, "connection", -1);
}

int client_tests_run(struct suite *s, const char *group)
{
    mem_hook_jansson();
    return suite_run_with(s, group, start_server, stop_server);
}
