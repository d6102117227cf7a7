/* Faults between a client and the API server: a table of faults, each at one point of a request or
 * stream, for the nth match or at random. Each counts how often it fired, so that a sweep can
 * report its coverage. */
#ifndef OSTLER_SIM_WORLD_FAULTS_H
#define OSTLER_SIM_WORLD_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "kube/request.h"
#include "sim/world/rng.h"

/* The point where a fault strikes. */
enum fault_point {
    FAULT_BEFORE,    /* the request is about to reach the server */
    FAULT_COMMITTED, /* the server has executed it; no client knows yet */
    FAULT_ANSWERED,  /* the client has taken the response; FAULT_DIE only */
    FAULT_FRAMES,    /* a stream has data for the client */
};

enum fault_effect {
    FAULT_DIE,    /* the client's process ends */
    FAULT_DROP,   /* the request or its response is lost: the client waits for its timeout */
    FAULT_RESET,  /* the connection breaks */
    FAULT_DELAY,  /* by delay_ms */
    FAULT_STATUS, /* a response with `status` instead */
    FAULT_HALF,   /* half of the response, then the connection breaks; FAULT_COMMITTED only */
    FAULT_CLOSE,  /* the server ends the stream; this and those below: FAULT_FRAMES only */
    FAULT_GONE,   /* the server reports in the stream that its version is too old (410) */
    /* the server ends the stream and drops its history: a watch from there gets 410 */
    FAULT_FORGET,
    FAULT_SILENCE,   /* the stream is silent without an end */
    FAULT_DUPLICATE, /* the last event arrives twice */
};

struct fault {
    enum fault_point point;
    enum fault_effect effect;
    int status;
    int64_t retry_after_s; /* sent by FAULT_STATUS; 0: 1 with 429, none with others; -1: none */
    int64_t delay_ms;
    /* strikes every match for so long after the first, even after the plan's end; 0: only once */
    int64_t for_ms;
    /* bits FAULT_CLASS(enum request_class) of matching requests; streams are REQUEST_WATCH */
    unsigned classes;
    /* FAULT_BEFORE and FAULT_COMMITTED: part of the path; NULL: any. Borrowed */
    const char *target;
    uint64_t nth;         /* only the nth match (1: the first); 0: at random */
    uint64_t one_in;      /* if nth is 0: strikes once in so many */
    uint64_t seen, fired; /* number of matches, and how often it fired */
    int64_t fired_ms;     /* last time that it fired */
    int64_t until_ms;     /* it strikes every match until then */
};

#define FAULT_CLASS(class) (1U << (class))
enum { FAULT_ALL_CLASSES = (1U << (REQUEST_LEASE + 1)) - 1 };

/* A fault that started to fire: its row and the number of the match. A row with that `nth` would
 * reproduce it. */
struct fault_mark {
    size_t row;
    uint64_t nth;
};

struct fault_plan {
    struct fault *rows; /* borrowed */
    size_t count;
    int64_t until_ms; /* no fault starts after this; 0: no limit */
    struct rng rng;
    struct fault_mark *marks; /* all that fired, in order; owned */
    size_t mark_count;
};

/* The first fault of the plan (may be NULL) that strikes here, or NULL; every matching row counts
 * it as seen. `path` is the request's; NULL: not compared. */
const struct fault *fault_draw(struct fault_plan *plan, enum fault_point point,
                               enum request_class class, const char *path, int64_t now_ms);
void fault_plan_clear(struct fault_plan *plan);

#endif
