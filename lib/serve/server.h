/* The HTTP server for /metrics, /healthz and /readyz, and with it the outermost loop of the program: libwebsockets waits for
 * its own sockets and for one epoll descriptor in which the program keeps everything else. One thread; nothing here blocks
 * except server_run_once(). */
#ifndef OSTLER_SERVE_SERVER_H
#define OSTLER_SERVE_SERVER_H

#include "base/err.h"
#include "serve/health.h"

struct buf;
struct server;

struct server_options {
    /* IP address and port: ":8080" is every address, "127.0.0.1:0" lets the system choose the port, "[::1]:8080". */
    const char *listen;
    struct health healthz; /* is the process alive; names and checks are borrowed for the server's life */
    struct health readyz;  /* can it do its work */
    /* Appends the metrics' text; called once per scrape. */
    void (*metrics)(void *arg, struct buf *out);
    void *metrics_arg;
};

/* Listens and returns a server; NULL with an error that names the address. SIGPIPE is ignored from then on. */
struct server *server_new(const struct server_options *o, struct err *e);
/* The port that it listens on. */
int server_port(const struct server *s);
/* Calls on_readable from server_run_once() whenever `fd` (an epoll descriptor, for one) has something to read; it is called
 * again as long as there is, so it may handle a part and return. The descriptor stays the caller's, and stays open as long as
 * the server lives. */
int server_adopt(struct server *s, int fd, void (*on_readable)(void *arg), void *arg, struct err *e);
/* Waits until something is ready, at most timeout_ms (negative: for ever; measured with suspended time, as struct clock does),
 * and serves what is. It may return early. -1 when the server cannot go on. */
int server_run_once(struct server *s, int timeout_ms);
/* Closes everything at once; never from within a callback. */
void server_free(struct server *s);

#endif
