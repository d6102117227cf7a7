/* One request, and its answer: sends it, collects the body within a limit, or hands it on in pieces
 * (lists, watches), and calls back once with how it came out. */
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

/* How a request came out. Borrowed by the callback; it may leave an error in `err`, or take it from
 * there. */
struct reply {
    const struct transport_result *result;
    const char *body; /* "" when there is none, or what `feed` has taken */
    size_t len;
    struct err err; /* why it is no success, as reply_take(); none: it is one */
};

/* Takes how it came out. It may send the next request by the same exchange, or free that. */
typedef void reply_fn(void *arg, struct reply *reply);

/* At most one request at a time. Set `transport`, `done` and `body` (BUF_INIT with the limit), and
 * what else is wanted; the rest is zero. It may not move while a request is in flight. */
struct exchange {
    const struct transport *transport; /* borrowed */
    reply_fn *done;
    void *arg;
    /* When the status line has come. NULL: not wanted. */
    void (*began)(void *arg);
    /* Takes the body of a success (status < 300) in pieces, in place of `body`. -1 ends the request
     * (TOO_LARGE). NULL: `body` does. */
    int (*feed)(void *arg, const char *bytes, size_t n);
    struct buf body;
    bool loses;  /* a body beyond the limit counts as empty; else it ends the request (TOO_LARGE) */
    bool lost;   /* that has happened */
    int status;  /* of the answer; 0: none has come yet */
    uint64_t id; /* in flight; 0: none */
};

/* Sends a request; takes its strings. None is in flight. */
void exchange_send(struct exchange *x, struct request request_steal);
/* Ends the request in flight, where there is one, without a call of `done`, and frees what has come
 * of its answer. */
void exchange_cancel(struct exchange *x);
/* The object that a success answers, as far as it is in view (NULL: all of it). NULL with
 * reply->err: it was no success, or the body is none. New reference. */
json_t *reply_object(struct reply *reply, const struct split_view *view);

#endif
