/* Serves the simulated API server over HTTPS, with HTTP/1.1, bearer tokens, keep-alive, and watches
 * as chunked streams. A library, libwebsockets, handles sockets and TLS in one thread. */
#ifndef OSTLER_SIM_SERVE_FRONT_H
#define OSTLER_SIM_SERVE_FRONT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/api/api.h"

struct front;

/* The user of a bearer token. */
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
    int64_t (*now_ms)(void *arg); /* virtual time, for timeouts of watches */
    void *now_arg;
};

/* Listens; NULL with an error that names the address. `o` except the PEM texts is borrowed for the
 * front's life. */
struct front *front_new(const struct front_options *o, struct err *e);
int front_port(const struct front *f);
/* Waits at most that long (0: not at all) and serves clients. -1 on a fatal error. */
int front_run_once(struct front *f, int64_t timeout_ms);
/* The API has changed: continues watches. Call it after all changes outside front_run_once(). */
void front_wake(struct front *f);
/* Closes all connections at once. */
void front_free(struct front *f);

#endif
