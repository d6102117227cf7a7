/* One-off requests to an API server: a command sends all its requests at once and continues when
 * all responses are there. A refused request fails alone: the command shows what the user may
 * read. */
#ifndef OSTLER_KUBECTL_ASK_H
#define OSTLER_KUBECTL_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "kube/request.h"
#include "kubectl/options.h"

struct ask;

/* One request and its response. */
struct fetch {
    enum resource_id resource;
    const char *name;            /* of one object; NULL: list */
    struct list_options in;      /* of a list; its `ns` also applies to an object */
    const char *const *left_out; /* members to drop, as split_view.paths; NULL: none */
    struct request request;      /* replaces the above; its response is an object or a text */
    size_t text_max;             /* keep the last bytes of a text; 0: an object */
    int64_t timeout_ms;          /* 0: the command line's */
    bool unwanted;               /* do not send it; its response is empty */
    /* The object, the list's items, or the text's bytes; NULL: see `e`. Owned by the fetch. */
    json_t *ret;
    bool cut;          /* the text was longer than text_max */
    size_t unreadable; /* unreadable items, missing from the list */
    struct err e;
};

/* Opens a client for the command line's cluster. NULL with an error that says what is wrong. `o`
 * is borrowed. */
struct ask *ask_open(const struct gpu_options *o, struct err *e);
/* From now on Ctrl-C, or a closed terminal, ends only the current wait, not the program: check
 * ask_stopped(). */
int ask_take_signals(struct ask *a, struct err *e);
bool ask_stopped(const struct ask *a);
/* Sends all requests at once and returns when every response is there. */
void ask_all(struct ask *a, struct fetch *fetches, size_t count);
/* Sends one request, which it takes; *ret gets the object in the response. */
int ask_one(struct ask *a, struct request request_steal, json_t **ret, struct err *e);
/* Waits; false: a signal stopped it. */
bool ask_wait(struct ask *a, int64_t ms);
/* The current time in microseconds since 1970, for comparison with times in the cluster. It
 * follows the API server's clock if that is known and differs from ours. */
int64_t ask_now_us(const struct ask *a);
/* The cluster's description for users. */
const char *ask_cluster(const struct ask *a);
/* Ostler's namespace: from the command line, else from the Lease with which a cluster's
 * installations find each other, else the default. It asks until it has a response; NULL with an
 * error: none. Borrowed. */
const char *ask_namespace(struct ask *a, struct err *e);
/* Frees the results and errors of fetches. */
void fetches_clear(struct fetch *fetches, size_t count);
/* Closes its connections; NULL has no effect. */
void ask_free(struct ask *a);

#endif
