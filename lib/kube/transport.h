/* The transport interface: a request goes out, bytes come back. Code above does not depend on
 * the implementation: libcurl (client/http.c) or a simulated world. Callbacks run in the loop's
 * turn, never inside submit() or cancel(). */
#ifndef OSTLER_KUBE_TRANSPORT_H
#define OSTLER_KUBE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/request.h"

/* Limit of a Retry-After that Ostler obeys. An overloaded kube-apiserver asks for at most 10
 * seconds, but a proxy may ask for hours. */
enum { RETRY_AFTER_MAX_S = 60 };

/* The result of a request. */
struct transport_result {
    int status;             /* HTTP status; 0: no response */
    int64_t retry_after_ms; /* from Retry-After, transport_retry_after_ms(); -1: no header */
    int64_t date_s;         /* the server's clock at the response, seconds since 1970; 0: unknown */
    /* Set if there was no (complete) response (UNREACHABLE, TIMEOUT, TOO_LARGE), or if the
     * credentials were rejected (UNAUTHORIZED, with advice). Borrowed. */
    struct err err;
};

/* Receives the response. */
struct transport_sink {
    /* The status line and headers arrived. May be NULL. */
    void (*on_status)(void *arg, int status);
    /* Takes some bytes of the body, cut anywhere. -1 ends the request (on_done then reports
     * TOO_LARGE). */
    int (*on_bytes)(void *arg, const char *bytes, size_t n);
    /* The end: exactly once, unless cancelled; no callback follows. */
    void (*on_done)(void *arg, const struct transport_result *result);
    void *arg;
};

struct transport {
    /* Starts a request and takes its strings (the struct is empty afterwards). Returns an id >
     * 0. */
    uint64_t (*submit)(void *self, struct request *request_steal,
                       const struct transport_sink *sink);
    /* Cancels a request: no callback follows. Ignores unknown ids. */
    void (*cancel)(void *self, uint64_t id);
    void *self;
};

/* The wait in milliseconds for a Retry-After of so many seconds (>= 0). */
int64_t transport_retry_after_ms(int64_t seconds);
/* Calls the transport's `submit`. */
uint64_t transport_submit(const struct transport *t, struct request *request_steal,
                          const struct transport_sink *sink);
/* Calls the transport's `cancel`. */
void transport_cancel(const struct transport *t, uint64_t id);

#endif
