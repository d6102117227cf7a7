/* A client of ours against the server of tests/unit/client/server.py, on loopback: a program of
 * such tests begins with client_tests_run(), which starts the server for all of them. */
#ifndef OSTLER_TESTS_SUPPORT_CLIENT_H
#define OSTLER_TESTS_SUPPORT_CLIENT_H

#include <jansson.h>

#include "base/buf.h"
#include "client/config.h"
#include "client/http.h"
#include "tests/unit/support/suite.h"

/* Runs the tests with a server; what main() returns. */
int client_tests_run(struct suite *s, const char *group);

/* ---- the server and its files */

/* The port of one of the server's kinds: "plain", "tls", "expired", "named", "mtls". */
int client_server_port(const char *kind);
/* The path of a file beside the server's certificates; good until the fourth call after it. */
const char *client_file(const char *name);
void client_write_file(const char *path, const char *text);
void client_copy_file(const char *from, const char *to);

/* ---- time: the machine's clock, which a test may set forward */

int64_t client_now_ms(void);
void client_advance(int64_t ms);

/* ---- a client */

struct client {
    struct config config;
    struct http *http;
    struct transport transport;
};

/* `cluster` and `user` are members of a kubeconfig, as JSON without the braces; "" for none. */
void client_open(struct client *c, const char *scheme, const char *kind, const char *cluster,
                 const char *user);
/* Without TLS; with TLS and the right authority. */
void client_open_plain(struct client *c);
void client_open_tls(struct client *c);
void client_close(struct client *c);
/* One turn, when there is something to do within `ms`. */
void client_turn(struct client *c, int64_t ms);
/* Turns until the flag is not 0, and fails the test when that takes too long; turns for some time.
 */
void client_run_until(struct client *c, const int *flag);
void client_run_for(struct client *c, int64_t ms);

/* ---- what comes of a request; zero-initialised before it is asked */

struct answer {
    struct client *client;
    uint64_t id;
    int status_calls; /* of on_status */
    int status;
    struct buf body;
    int pieces; /* calls of on_bytes */
    int done;   /* calls of on_done */
    struct transport_result result;
    char *error; /* its sentence */
    void (*on_piece)(struct answer *a);
    void (*on_end)(struct answer *a);
    size_t take_max; /* refuse after so many bytes; 0: take all */
    struct answer *other;
};

/* Submits a request; nothing is done before a turn. */
void client_ask_with(struct client *c, struct answer *a, struct request request_steal);
void client_ask(struct client *c, struct answer *a, enum request_class class, const char *path);
/* Reads a path, to the end; what was in the answer before is forgotten. */
void client_get(struct client *c, struct answer *a, const char *path);
void answer_clear(struct answer *a);
void answer_expect_ok(const struct answer *a);
/* The error's kind, and a part of its sentence. */
void answer_expect_error(const struct answer *a, enum err_kind kind, const char *part);
/* What the server says that it got. New reference. */
json_t *answer_echo(const struct answer *a);
/* The number of the connection that the request came by. */
int64_t answer_connection(const struct answer *a);

#endif
