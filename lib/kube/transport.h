/* The transport seam: a request goes out, bytes come back. libcurl is one implementation (client/http.c); a simulated world
 * can be another. Nothing above it knows which. Callbacks come from the loop's turn, never from inside submit() or cancel(). */
#ifndef OSTLER_KUBE_TRANSPORT_H
#define OSTLER_KUBE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/request.h"

/* No longer than this does Ostler wait because a server asked for it. kube-apiserver asks for at most 10 seconds when it is
 * overloaded, but a proxy in front of it may ask for hours. */
enum { RETRY_AFTER_MAX_S = 60 };

/* How an answer came out. */
struct transport_result {
    int status;             /* HTTP status; 0 when no answer came */
    int64_t retry_after_ms; /* of the Retry-After header, transport_retry_after_ms(); -1 when there was none */
    int64_t date_s;         /* the server's clock when it answered, seconds of the epoch; 0: it did not say */
    struct err err;         /* set when no (whole) answer came (UNREACHABLE, TIMEOUT, TOO_LARGE) or the credentials were
                             * refused (UNAUTHORIZED, with what to do); borrowed */
};

/* Who takes the answer. */
struct transport_sink {
    /* The status line and headers are there. May be NULL. */
    void (*on_status)(void *arg, int status);
    /* Some bytes of the body, cut anywhere. Returning -1 ends the request (on_done then comes with TOO_LARGE). */
    int (*on_bytes)(void *arg, const char *bytes, size_t n);
    /* The end, exactly once unless cancelled; nothing comes afterwards. */
    void (*on_done)(void *arg, const struct transport_result *result);
    void *arg;
};

struct transport {
    /* Starts a request; takes its strings (the struct is empty afterwards). Returns an id > 0. */
    uint64_t (*submit)(void *self, struct request *request_steal, const struct transport_sink *sink);
    /* Ends a request; its sink is not called any more. Unknown ids are ignored. */
    void (*cancel)(void *self, uint64_t id);
    void *self;
};

/* The wait that a Retry-After of so many seconds (>= 0) stands for, in milliseconds. */
int64_t transport_retry_after_ms(int64_t seconds);
/* As `submit` of the transport. */
uint64_t transport_submit(const struct transport *t, struct request *request_steal, const struct transport_sink *sink);
/* As `cancel` of the transport. */
void transport_cancel(const struct transport *t, uint64_t id);

#endif
