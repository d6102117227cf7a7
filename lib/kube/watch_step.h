/* List and watch of one resource as a pure state machine: an event goes in, the next step comes
 * out. The driver (runtime/informer.c) sends and receives. The rules are those of client-go's
 * reflector:
 *   list pages → watch from the list's version → the stream ends → watch again from the last
 *     version seen (bookmarks count)
 *   410 anywhere, or an invalid stream → list again; any other failure → back off, then
 *     continue. */
#ifndef OSTLER_KUBE_WATCH_STEP_H
#define OSTLER_KUBE_WATCH_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Room for a resourceVersion's text, more than any server sends. */
enum { RV_TEXT_MAX = 64 };

enum watch_phase {
    WATCH_LISTING,   /* a page is requested */
    WATCH_STREAMING, /* a stream is open */
    WATCH_WAITING,   /* backing off */
};

/* Zero-initialised = at the start. */
struct watch_state {
    enum watch_phase phase;
    char rv[RV_TEXT_MAX];     /* last version seen; "": list first */
    char *token;              /* continue token of the next page; owned */
    bool synced;              /* one list is complete since the start or WATCH_AGAIN */
    enum err_kind last_error; /* of the last failure */
    int failures; /* consecutive waits for failures of that kind, with no data in between */
    int64_t last_failure_ms;
    int64_t opened_ms; /* when the stream was opened */
    bool heard;        /* the stream brought data */
};

enum watch_event {
    WATCH_STARTED,    /* start */
    WATCH_PAGE,       /* a complete page: rv, token (NULL: the last) */
    WATCH_SEEN,       /* an event or a bookmark: rv */
    WATCH_CLOSED,     /* the server ended the stream, which is normal */
    WATCH_FAILED,     /* list or watch failed: error, retry_after_ms */
    WATCH_AGAIN,      /* the selection of objects changed: list again */
    WATCH_DELAY_OVER, /* the delay is over */
};

struct watch_input {
    enum watch_event event;
    const char *rv;
    const char *token;
    enum err_kind error;
    int64_t retry_after_ms; /* -1: none from the server */
    int64_t now_ms;
    uint32_t random; /* any number, for jitter */
};

enum watch_do {
    WATCH_DO_NOTHING,
    WATCH_DO_LIST,   /* the first page (state.token NULL) or the next */
    WATCH_DO_STREAM, /* open a watch from state.rv for timeout_s */
    WATCH_DO_WAIT,   /* send WATCH_DELAY_OVER after delay_ms */
};

struct watch_next {
    enum watch_do what;
    bool list_complete; /* the list is complete: drop all objects that it lacks from the store */
    int64_t delay_ms;
    int timeout_s;
};

/* Takes one event and returns the next step. */
struct watch_next watch_step(struct watch_state *s, const struct watch_input *in);
/* Frees its memory and returns it to the start. */
void watch_state_clear(struct watch_state *s);

#endif
