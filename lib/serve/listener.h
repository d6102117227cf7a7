/* What an HTTP server stands on: libwebsockets, a listening socket, a timer that limits each wait,
 * and other descriptors that libwebsockets watches. */
#ifndef OSTLER_SERVE_LISTENER_H
#define OSTLER_SERVE_LISTENER_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
    LISTENER_BESIDE = 16,  /* descriptors in libwebsockets' table, besides connections */
    LISTENER_ACCEPTS = 64, /* in a turn, so that a flood of connections does not starve the loop */
};

struct listener_options {
    const char *address; /* as for listen_on() */
    const char *server;  /* "the HTTP server", and why it may fail to start: for errors */
    const char *causes;
    struct lws_protocols clients;          /* the protocol of connections */
    void (*on_connections)(void *arg);     /* calls listener_accept() with info.user */
    struct lws_context_creation_info info; /* what differs between servers */
};

struct listener {
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct lws *socket;
    struct lws_protocols protocols[3];
    int fd; /* libwebsockets owns this descriptor and the timer after adopting them */
    int timer_fd;
    int port;
    bool timer_set;
};

/* Listens; -1 with an error that names the address. Close it in both cases. */
int listener_open(struct listener *l, const struct listener_options *o, struct err *e);
/* Calls `on_readable` when the descriptor is readable. libwebsockets owns `fd` afterwards, also
 * on failure (NULL). */
struct lws *listener_watch(struct listener *l, int fd, void (*on_readable)(void *arg), void *arg);
/* The descriptor of the next connection; -1 with errno. */
int listener_accept(const struct listener *l);
/* Writes the first bytes of a response, and returns their number; -1: the connection is broken. */
int listener_write(struct lws *wsi, const char *bytes, size_t len, enum lws_write_protocol how);
/* As server_run_once(). */
int listener_run_once(struct listener *l, int64_t timeout_ms);
/* Closes all connections at once; their callbacks are called. */
void listener_close(struct listener *l);

#endif
