/* One resource's list and watch as a pure state machine: what happened goes in, what to do next comes out. The driver
 * (runtime/informer.c) sends and receives. Rules, as in client-go's reflector:
 *   list pages → watch from the list's version → the stream ends → watch on from the last version seen (bookmarks count)
 *   410 at any place, or a stream that makes no sense → list anew; every other failure → back off, then go on where it was. */
#ifndef OSTLER_KUBE_WATCH_STEP_H
#define OSTLER_KUBE_WATCH_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* A resourceVersion's text, with room for what no server sends. */
enum { RV_TEXT_MAX = 64 };

enum watch_phase {
    WATCH_LISTING,   /* a page is on its way */
    WATCH_STREAMING, /* a stream is open */
    WATCH_WAITING,   /* backing off */
};

/* Zero-initialised = at the beginning. */
struct watch_state {
    enum watch_phase phase;
    char rv[RV_TEXT_MAX];     /* last version seen; "": list first */
    char *token;              /* continue token of the next page; owned */
    bool synced;              /* one whole list has come since it began, or since WATCH_AGAIN */
    enum err_kind last_error; /* of the last failure */
    int failures;             /* waits in a row for failures of that kind, with nothing heard in between */
    int64_t last_failure_ms;
    int64_t opened_ms;        /* when the stream was opened */
    bool heard;               /* the stream brought anything */
};

enum watch_event {
    WATCH_STARTED,      /* begin */
    WATCH_PAGE,         /* a page has come whole: rv, token (NULL: the last) */
    WATCH_SEEN,         /* an event or a bookmark has come: rv */
    WATCH_CLOSED,       /* the server ended the stream, as it does sooner or later */
    WATCH_FAILED,       /* list or watch failed: error, retry_after_ms */
    WATCH_AGAIN,        /* other objects are kept from now on: list anew */
    WATCH_DELAY_OVER,   /* the delay that was asked for is over */
};

struct watch_input {
    enum watch_event event;
    const char *rv;
    const char *token;
    enum err_kind error;
    int64_t retry_after_ms; /* -1: the server did not say */
    int64_t now_ms;
    uint32_t random;        /* any number, for jitter */
};

enum watch_do {
    WATCH_DO_NOTHING,
    WATCH_DO_LIST,   /* first page (state.token NULL) or the next one */
    WATCH_DO_STREAM, /* open a watch from state.rv for timeout_s */
    WATCH_DO_WAIT,   /* send WATCH_DELAY_OVER after delay_ms */
};

struct watch_next {
    enum watch_do what;
    bool list_complete; /* the list is whole: drop from the store what it did not have */
    int64_t delay_ms;
    int timeout_s;
};

/* Takes note of what has happened, and says what to do next. */
struct watch_next watch_step(struct watch_state *s, const struct watch_input *in);
/* Frees what it owns; it is at the beginning afterwards. */
void watch_state_clear(struct watch_state *s);

#endif
