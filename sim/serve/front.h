/* The simulated API server on the network: HTTP/1.1 over TLS, bearer tokens, keep-alive, watches as chunked streams.
 * libwebsockets carries the sockets and TLS; one thread. */
#ifndef OSTLER_SIM_SERVE_FRONT_H
#define OSTLER_SIM_SERVE_FRONT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/api/api.h"

struct front;

/* Who a token belongs to. */
struct front_user {
    const char *token;
    const char *user;
};

struct front_options {
    const char *listen;      /* "127.0.0.1:0": the system chooses the port */
    const char *certificate; /* PEM */
    const char *key;         /* PEM */
    const struct front_user *users;
    size_t user_count;
    struct api *api;
    int64_t (*now_ms)(void *arg); /* virtual time, in which watches have their timeouts */
    void *now_arg;
};

/* Listens; NULL with an error that names the address. All in `o` but the PEM texts is borrowed for the front's life. */
struct front *front_new(const struct front_options *o, struct err *e);
/* The port that it listens on. */
int front_port(const struct front *f);
/* Waits at most so long (0: not at all) for clients, and serves them. -1 when it cannot go on. */
int front_run_once(struct front *f, int64_t timeout_ms);
/* The API has something new: watches are written on. Call it after anything but front_run_once() has changed the API. */
void front_wake(struct front *f);
/* Closes everything at once. */
void front_free(struct front *f);

#endif
