/* Keeps a table equal to a resource on the API server: drives kube/watch_step over the
 * transport. */
#ifndef OSTLER_RUNTIME_INFORMER_H
#define OSTLER_RUNTIME_INFORMER_H

#include <stdbool.h>

#include "kube/request.h"
#include "kube/transport.h"
#include "runtime/loop.h"
#include "runtime/outage.h"
#include "runtime/server_clock.h"
#include "runtime/table.h"

struct informer;

/* Least time between lists of an absent resource. */
enum { INFORMER_ABSENT_RETRY_MS = 60 * 1000 };

struct informer_options {
    enum resource_id resource;
    struct list_options list; /* the strings must outlive the informer */
    /* The CRD or the permission may be missing: 404 and 403 then count as an empty list, which
     * only informer_look_again() repeats. */
    bool optional;
    const struct split_view *view; /* what the projector reads; NULL: everything. Borrowed */
    /* What to read of an unknown object that is unreadable with `view`; NULL: nothing. Borrowed. */
    const struct split_view *bare;
    uint64_t seed;              /* for the jitter between retries */
    struct outage *outage;      /* shared, logs server problems once; NULL: not logged */
    struct server_clock *clock; /* shared; records when lists were answered; NULL: none */
};

struct informer_state {
    bool started; /* informer_start() was called */
    /* One complete list of the objects that the projector keeps arrived (or, if optional, the
     * resource is absent). */
    bool synced;
    /* The API server has this resource; false only for an optional one whose CRD is missing. */
    bool present;
    bool looks; /* an absent resource is being listed again: its state is unknown */
    /* The current problem in one sentence, or NULL. During a problem, the table may lack events.
     * It ends with a complete list, or when a resumed watch brings a bookmark or stays open for a
     * second without an error. Borrowed until the next turn. */
    const char *problem;
    /* When the first page of its list was asked for, in loop time: the table is no older. */
    int64_t listed_ms;
    int64_t silent_ms; /* since the last data, including bookmarks: the table may be this stale */
    uint64_t restarts; /* number of watches restarted after a failure */
    /* Number of unreadable objects received. Each affects only itself: a known object keeps its
     * record, an unknown one is read with the bare view. */
    uint64_t unreadable;
};

/* All borrowed. `on_change` may be NULL; it is called when the informer syncs, lists again,
 * fails or recovers. */
struct informer *informer_new(const struct informer_options *o, struct table *table,
                              const struct transport *transport, struct loop *loop,
                              loop_fn *on_change, void *arg);
/* Starts to list and watch; no effect if it has started. */
void informer_start(struct informer *inf);
/* Lists again because the projector now keeps other objects. Until the list is complete, the
 * table keeps its records and the informer is not synced. */
void informer_list_anew(struct informer *inf);
/* Lists an absent resource again, but not sooner than `apart_ms` after the last time. */
void informer_look_again(struct informer *inf, int64_t apart_ms);
/* Its state now. */
struct informer_state informer_state(const struct informer *inf);
/* Cancels its requests and frees it; the table stays unchanged. NULL has no effect. */
void informer_free(struct informer *inf);

#endif
