/* The HTTP server for /metrics, /healthz and /readyz. Its loop is the program's outermost:
 * libwebsockets waits for its own sockets and for one epoll descriptor with everything else. One
 * thread; only server_run_once() blocks. */
#ifndef OSTLER_SERVE_SERVER_H
#define OSTLER_SERVE_SERVER_H

#include "base/err.h"
#include "serve/health.h"

struct buf;
struct listener;
struct server;

struct server_options {
    /* IP address and port: ":8080" (every address), "127.0.0.1:0" (the system chooses the port),
     * "[::1]:8080"; "": none, when it only waits for adopted descriptors and for a page beside
     * it. */
    const char *listen;
    struct health healthz; /* liveness; names and checks are borrowed for the server's life */
    struct health readyz;  /* readiness */
    /* Appends the metrics; called once per scrape. */
    void (*metrics)(void *arg, struct buf *out);
    void *metrics_arg;
};

/* Starts to listen; NULL with an error that names the address. Ignores SIGPIPE from now on. */
struct server *server_new(const struct server_options *o, struct err *e);
/* The port of the server. */
int server_port(const struct server *s);
/* Calls on_readable from server_run_once() while `fd` (such as an epoll descriptor) is readable;
 * it may handle a part and return. The caller keeps the descriptor and must keep it open while
 * the server exists. */
int server_adopt(struct server *s, int fd, void (*on_readable)(void *arg), void *arg,
                 struct err *e);
/* Waits for work, at most timeout_ms (negative: for ever; includes suspended time, as struct
 * clock does), and does it. It may return early. -1 if the server cannot continue. */
int server_run_once(struct server *s, int timeout_ms);
/* What a page beside it shares with it (serve/page.h). Borrowed. */
const struct listener *server_listener(const struct server *s);
/* Closes everything at once; never call it from a callback. */
void server_free(struct server *s);

#endif
