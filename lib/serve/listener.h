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
    LISTENER_PAGE = 160,   /* the same for the fleet page: its connections and its own socket */
    LISTENER_ACCEPTS = 64, /* in a turn, so that a flood of connections does not starve the loop */
};

struct listener;

struct listener_options {
    const char *address; /* as for listen_on(); "": it only waits for other descriptors */
    const char *option;  /* the option that sets it: for errors */
    /* Another listener, whose loop serves this one, too; NULL: this one has its own. */
    const struct listener *beside;
    const char *server; /* "the HTTP server", and why it may fail to start: for errors */
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
    bool beside; /* the context belongs to another listener */
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
/* Closes all connections at once, also those of listeners beside it; their callbacks are called.
 * For a listener beside another one it does nothing. */
void listener_close(struct listener *l);

#endif
