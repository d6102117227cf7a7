/* Keeps a table equal to a resource on the server: drives kube/watch_step over the transport. */
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

/* An absent resource is looked for no more often than this. */
enum { INFORMER_ABSENT_RETRY_MS = 60 * 1000 };

struct informer_options {
    enum resource_id resource;
    struct list_options list;  /* strings outlive the informer */
    bool optional;             /* its CRD may be missing, or the right to see it: 404 and 403 are an empty list, asked for again
                                * only by informer_look_again() */
    const struct split_view *view; /* what the projector looks at; NULL: at all. Borrowed */
    const struct split_view *bare; /* what is read of an object that cannot be read so, and of which nothing is known yet; NULL:
                                    * nothing. Borrowed */
    uint64_t seed;             /* of the jitter between retries */
    struct outage *outage;     /* shared by all who would say the same of the server; NULL: that is not logged */
    struct server_clock *clock; /* shared: is told when lists were answered; NULL: nobody is */
};

/* All borrowed. `on_change` is called when the informer becomes synced or lists anew, fails or recovers; may be NULL. */
struct informer *informer_new(const struct informer_options *o, struct table *table, const struct transport *transport,
                              struct loop *loop, loop_fn *on_change, void *arg);
/* Begins to list and watch; once it has begun nothing happens. */
void informer_start(struct informer *inf);
/* Whether informer_start() was called. */
bool informer_started(const struct informer *inf);
/* Whether one whole list of what the projector keeps has come (or, when optional, that there is no such resource). */
bool informer_synced(const struct informer *inf);
/* What goes wrong at the moment, one sentence; NULL when nothing does. While there is a problem, events may be missing from the
 * table. It is over when a whole list has come, or when a watch that goes on where it was has brought a bookmark, or has been
 * open for a second without an error. Borrowed, until the next turn. */
const char *informer_problem(const struct informer *inf);
/* Whether the server has this resource at all; false only for an optional one whose CRD is missing. */
bool informer_present(const struct informer *inf);
/* Whether a resource that was absent is looked for again: nobody knows yet what there is of it. */
bool informer_looks(const struct informer *inf);
/* Lists again, since the projector keeps others from now on. Until that list is whole, what is known stays, and the informer is
 * not synced. */
void informer_list_anew(struct informer *inf);
/* Lists an absent resource again, but not sooner than this after the last time: for who would use it. */
void informer_look_again(struct informer *inf, int64_t apart_ms);
/* For how long nothing was heard, bookmarks included: what is known may be as old as that. */
int64_t informer_silent_ms(const struct informer *inf);
/* How often a watch was begun anew after something went wrong. */
uint64_t informer_restarts(const struct informer *inf);
/* How often an object came that could not be read. It costs that object alone: what is known of it stays, and of one that is not
 * known the bare view counts. */
uint64_t informer_unreadable(const struct informer *inf);
/* Ends its requests and frees it; the table stays as it is. NULL is none. */
void informer_free(struct informer *inf);

#endif
