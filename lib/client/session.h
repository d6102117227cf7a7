/* One call that sets up access to a cluster: configuration, client and transport. A program with
 * a loop adds the client to the loop (runtime/loop_http.h); a program without one waits here. */
#ifndef OSTLER_CLIENT_SESSION_H
#define OSTLER_CLIENT_SESSION_H

#include <stdbool.h>

#include "base/clock.h"
#include "client/config.h"
#include "client/http.h"
#include "kube/exchange.h"

/* The cluster and the client's name. Strings are borrowed for the call. */
struct session_options {
    const char *kubeconfig, *context; /* NULL: as in config_load() */
    const char *program, *version;    /* for the user agent */
};

/* Must not move while open. */
struct session {
    struct clock clock; /* the system clock */
    struct config config;
    struct http *http;
    struct transport transport;
};

/* -1 with an error that says what is wrong. Call session_close() in any case. */
int session_open(struct session *s, const struct session_options *o, struct err *e);
/* Waits until the exchange (NULL: none) has nothing in flight, at most until the clock reaches
 * `until_ms`. Returns whether the exchange is done. */
bool session_wait(struct session *s, const struct exchange *x, int64_t until_ms);
/* Cancels every request without calling its sink. A zeroed session is valid. */
void session_close(struct session *s);

#endif
