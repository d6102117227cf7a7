/* One request and its response. It collects the body within a limit, or passes it on in pieces
 * (lists, watches), and calls back once with the result. */
#ifndef OSTLER_KUBE_EXCHANGE_H
#define OSTLER_KUBE_EXCHANGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/request.h"
#include "kube/split.h"
#include "kube/transport.h"

/* The result of a request. The callback borrows it; it may leave an error in `err` or take it. */
struct reply {
    const struct transport_result *result;
    const char *body; /* "" if there is none or `feed` took it */
    size_t len;
    struct err err; /* the failure, as in reply_take(); none: success */
};

/* Takes the result. It may send the next request with the same exchange, or free the exchange. */
typedef void reply_fn(void *arg, struct reply *reply);

/* Carries at most one request at a time. Set `transport`, `done`, `body` (BUF_INIT with the
 * limit) and the optional members; zero the rest. It must not move while a request is in flight. */
struct exchange {
    const struct transport *transport; /* borrowed */
    reply_fn *done;
    void *arg;
    /* Called when the status line arrives. NULL: not called. */
    void (*began)(void *arg);
    /* Takes the body of a success (status < 300) in pieces. -1 ends the request (TOO_LARGE).
     * NULL: `body` takes it. */
    int (*feed)(void *arg, const char *bytes, size_t n);
    struct buf body;
    /* a body beyond the limit counts as empty; if false, it ends the request (TOO_LARGE) */
    bool loses;
    bool lost;   /* the body exceeded the limit */
    int status;  /* of the response; 0: none yet */
    uint64_t id; /* of the request in flight; 0: none */
};

/* Sends a request and takes its strings. No request may be in flight. */
void exchange_send(struct exchange *x, struct request request_steal);
/* Cancels the request in flight, if any, without calling `done`, and frees its partial response. */
void exchange_cancel(struct exchange *x);
/* The object in a successful response, as far as it is in view (NULL: all of it). NULL with
 * reply->err: a failure, or the body is no object. New reference. */
json_t *reply_object(struct reply *reply, const struct split_view *view);

#endif
