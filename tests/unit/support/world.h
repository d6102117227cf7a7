/* A world without a network and without time of its own, behind the seams kube/transport.h and
 * base/clock.h: requests stay open until the test answers them, in any order and in any pieces; the
 * clock stands still until the test moves it. Answers come from the loop's turn, as those of the
 * network do, so that what runs in here runs as it does outside.
 *
 *     world_init(&w);
 *     informer_start(…&w.transport, w.loop…);
 *     world_expect(&w, "GET /api/v1/nodes?limit=500");
 *     world_reply(&w, 0, 200, "{'metadata': {'resourceVersion': '10'}, 'items': []}");
 *     world_turn(&w);
 *
 * An open request is named by its place: 0 is the oldest one that has not got its end yet. */
#ifndef OSTLER_TESTS_SUPPORT_WORLD_H
#define OSTLER_TESTS_SUPPORT_WORLD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "kube/transport.h"
#include "runtime/loop.h"

/* A request that was submitted and has not ended. */
struct world_call {
    uint64_t id;
    struct request request;
    struct transport_sink sink;
    bool answered; /* its end is on the way */
};

/* Something of an answer on its way to the sink. */
struct world_delivery {
    enum { DELIVER_STATUS, DELIVER_BYTES, DELIVER_DONE } what;
    uint64_t id;
    char *bytes; /* owned */
    struct transport_result result;
};

struct world {
    int64_t now_ms; /* what the clock shows; wall time is WORLD_EPOCH_US later */
    int64_t date_s; /* that the API server's answers bear from now on; 0: none */
    struct clock clock;
    struct transport transport;
    struct loop *loop;
    struct world_call *calls;
    size_t call_count;
    struct world_delivery *deliveries;
    size_t delivery_count;
    uint64_t submitted; /* requests since the beginning */
    uint64_t cancelled;
    int wake_fd;     /* readable while something is on its way */
    struct buf said; /* by what the test looks at, in its callbacks */
};

/* Wall time at 0 ms: 2026-11-20T10:00:00Z. */
#define WORLD_EPOCH_US INT64_C(1795168800000000)

void world_init(struct world *w);
void world_clear(struct world *w);

/* One turn of the loop, at the time that it is. */
void world_turn(struct world *w);
/* Lets time pass, with a turn at each moment at which something is due. */
void world_pass(struct world *w, int64_t ms);
/* Lets time pass without a turn, as for a process that is stopped or a machine that is suspended.
 */
void world_jump(struct world *w, int64_t ms);

/* How many requests are open. */
size_t world_open(const struct world *w);
/* An open request; fails the test when there are not so many. Borrowed until the next turn. */
struct world_call *world_call(const struct world *w, size_t place);
/* Fails the test unless the open requests are these, one "METHOD path" per line, oldest first. Of a
 * watch, its timeoutSeconds is left out: it is chosen by chance. */
void world_expect(const struct world *w, const char *lines);
/* The body of an open request. New reference. */
json_t *world_body(const struct world *w, size_t place);
/* Fails the test unless the body of an open request is this JSON (with ' for "). */
void world_expect_body(const struct world *w, size_t place, const char *body);

/* Takes down a word of what is told. */
void world_say(struct world *w, const char *word);
/* Fails the test unless this was told since the last time, words apart by spaces. */
void world_expect_said(struct world *w, const char *want);

/* The status line and headers of an answer. */
void world_status(struct world *w, size_t place, int status);
/* Bytes of a body, ' standing for ". */
void world_bytes(struct world *w, size_t place, const char *text);
/* The end of an answer that has got a status. */
void world_done(struct world *w, size_t place, int status);
/* A whole answer. */
void world_reply(struct world *w, size_t place, int status, const char *body);
/* A refusal with a Retry-After header. */
void world_refuse(struct world *w, size_t place, int status, int64_t retry_after_ms,
                  const char *body);
/* No (whole) answer; status 0 when not even its beginning came. */
void world_break(struct world *w, size_t place, int status, enum err_kind kind,
                 const char *message);

#endif
