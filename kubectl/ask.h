/* Questions to an API server, each asked once: a command's whole need is asked for at the same time, and it goes on when all
 * answers are there. What one question is refused is its own matter: a command shows what it may see. */
#ifndef OSTLER_KUBECTL_ASK_H
#define OSTLER_KUBECTL_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "kube/request.h"
#include "kubectl/options.h"

struct ask;

/* One question, and its answer. */
struct fetch {
    enum resource_id resource;
    const char *name;            /* of one object; NULL: a list */
    struct list_options in;      /* of a list; its `ns` also of an object */
    const char *const *left_out; /* members that are not kept, as split_view.paths; NULL: all are */
    struct request request;      /* in place of all that: this one; its answer is an object, or a text */
    size_t text_max;             /* of that text the last so many bytes are kept; 0: it is an object */
    int64_t timeout_ms;          /* 0: that of the command line */
    bool unwanted;               /* not asked at all; its answer is none */
    json_t *ret;                 /* the object, the list's items, or the text's bytes; NULL: see `e`. Owned by the fetch */
    bool cut;                    /* the text was longer than that */
    size_t unreadable;           /* items of the list that could not be read, and are not in it */
    struct err e;
};

/* A client for the cluster of the command line. NULL with an error that says what is wrong. `o` is borrowed. */
struct ask *ask_open(const struct gpu_options *o, struct err *e);
/* From here on Ctrl-C, or a terminal that is closed, does not end the program but what it waits for; ask_stopped() tells. */
int ask_take_signals(struct ask *a, struct err *e);
bool ask_stopped(const struct ask *a);
/* Asks all of them at once and comes back when every answer is there. */
void ask_all(struct ask *a, struct fetch *fetches, size_t count);
/* One request, which it takes; the object that it answers goes to *ret. */
int ask_one(struct ask *a, struct request request_steal, json_t **ret, struct err *e);
/* Waits; false: stopped by a signal. */
bool ask_wait(struct ask *a, int64_t ms);
/* Microseconds since 1970, now, by the clock of the API server where it has told its time and that is not ours: what a cluster's
 * times are compared with. */
int64_t ask_now_us(const struct ask *a);
/* Which cluster it is, for people. */
const char *ask_cluster(const struct ask *a);
/* The namespace that Ostler runs in: what the command line says, else what the Lease says by which installations of a cluster
 * find each other, else its default. Asked for until there is an answer; NULL with an error: there is none. Borrowed. */
const char *ask_namespace(struct ask *a, struct err *e);
/* Frees answers and errors of fetches. */
void fetches_clear(struct fetch *fetches, size_t count);
/* Ends its connections; NULL is none. */
void ask_free(struct ask *a);

#endif
