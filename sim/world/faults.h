/* What goes wrong between a client and the API server, as data: a table of faults, each at one point of a request's or a stream's
 * way, for the nth that comes by or by chance. Each counts how often it fired, so that a sweep can say what it has tried. */
#ifndef OSTLER_SIM_WORLD_FAULTS_H
#define OSTLER_SIM_WORLD_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "kube/request.h"
#include "sim/world/rng.h"

/* Where on the way. */
enum fault_point {
    FAULT_BEFORE,    /* the request is about to reach the server */
    FAULT_COMMITTED, /* the server has carried it out; nobody knows yet */
    FAULT_ANSWERED,  /* the answer was taken; FAULT_DIE only */
    FAULT_FRAMES,    /* a stream has news for the client */
};

enum fault_effect {
    FAULT_DIE,       /* the client's process ends at this moment */
    FAULT_DROP,      /* the request, or its answer, is lost: the client waits for its timeout */
    FAULT_RESET,     /* the connection breaks */
    FAULT_DELAY,     /* by delay_ms */
    FAULT_STATUS,    /* an answer with `status` instead */
    FAULT_HALF,      /* half of the answer, then the connection breaks; FAULT_COMMITTED only */
    FAULT_CLOSE,     /* the server ends the stream; this and those below: FAULT_FRAMES only */
    FAULT_GONE,      /* the server says in the stream that its version is too old (410) */
    FAULT_FORGET,    /* the server ends the stream and forgets what was: who goes on from there is told 410 in the next stream */
    FAULT_SILENCE,   /* nothing comes any more, and nobody says so */
    FAULT_DUPLICATE, /* the last event comes twice */
};

struct fault {
    enum fault_point point;
    enum fault_effect effect;
    int status;
    int64_t retry_after_s; /* that a FAULT_STATUS says; 0: 1 with 429, nothing with others; -1: nothing */
    int64_t delay_ms;
    int64_t for_ms;       /* once it has struck it strikes all that comes by for so long, also when the plan is over; 0: once */
    unsigned classes;     /* bits FAULT_CLASS(enum request_class): which requests; streams are REQUEST_WATCH */
    const char *target;   /* FAULT_BEFORE and FAULT_COMMITTED: part of the path of those that count; NULL: all do. Borrowed */
    uint64_t nth;         /* only the nth of these that comes by (1: the first); 0: by chance */
    uint64_t one_in;      /* where nth is 0: once in so many */
    uint64_t seen, fired; /* how many came by, and how often it fired */
    int64_t fired_ms;     /* when it fired last */
    int64_t until_ms;     /* it strikes all that comes by until then */
};

#define FAULT_CLASS(class) (1U << (class))
enum { FAULT_ALL_CLASSES = (1U << (REQUEST_LEASE + 1)) - 1 };

/* A fault that fired, or began to strike all that comes by: the row, and which of those that came by it struck. With `nth`
 * instead of chance it would strike the same. */
struct fault_mark {
    size_t row;
    uint64_t nth;
};

struct fault_plan {
    struct fault *rows; /* borrowed */
    size_t count;
    int64_t until_ms;   /* from then on nothing begins; 0: no such end */
    struct rng rng;
    struct fault_mark *marks; /* all that fired, in order; owned */
    size_t mark_count;
};

/* The first fault of the plan (may be NULL) that strikes here, or NULL; each that could have struck counts it as seen. `path` is
 * that of the request; NULL: it does not matter here. */
const struct fault *fault_draw(struct fault_plan *plan, enum fault_point point, enum request_class class, const char *path,
                               int64_t now_ms);
/* How often any fault of the plan has fired. */
uint64_t fault_total(const struct fault_plan *plan);
/* Forgets what a run has counted and begun: the plan is as before it. */
void fault_rewind(struct fault *f);
/* Frees what the plan owns. */
void fault_plan_clear(struct fault_plan *plan);
/* What a fault does and where, in words: "the answer is lost". Static text. */
const char *fault_text(const struct fault *f);

#endif
