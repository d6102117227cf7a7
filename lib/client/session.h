/* What a program needs to talk to a cluster, set up in one call: where the cluster is, the client,
 * and its transport. A program with a loop adds it to that (runtime/loop_http.h); one without waits
 * for answers here. */
#ifndef OSTLER_CLIENT_SESSION_H
#define OSTLER_CLIENT_SESSION_H

#include <stdbool.h>

#include "base/clock.h"
#include "client/config.h"
#include "client/http.h"
#include "kube/exchange.h"

/* Which cluster, and who asks. Strings are borrowed for the call. */
struct session_options {
    const char *kubeconfig, *context; /* NULL: as config_load() */
    const char *program, *version;    /* of the user agent */
};

/* May not move once it is open. */
struct session {
    struct clock clock; /* the system's */
    struct config config;
    struct http *http;
    struct transport transport;
};

/* -1 with an error that says what is wrong. session_close() in any case. */
int session_open(struct session *s, const struct session_options *o, struct err *e);
/* Waits until the exchange (NULL: none) has nothing in flight, at most until the clock says
 * `until_ms`; whether it has not. */
bool session_wait(struct session *s, const struct exchange *x, int64_t until_ms);
/* Ends every request without calling its sink. One that is all zero is none. */
void session_close(struct session *s);

#endif
