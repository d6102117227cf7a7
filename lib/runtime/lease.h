/* Leader election: drives kube/lease_step over the transport. A lost lease ends the process: a
 * former leader must not write again. */
#ifndef OSTLER_RUNTIME_LEASE_H
#define OSTLER_RUNTIME_LEASE_H

#include <stdbool.h>

#include "kube/transport.h"
#include "runtime/loop.h"
#include "runtime/outage.h"

struct lease;

struct lease_options {
    const char *ns;   /* of the Lease; borrowed */
    const char *name; /* borrowed */
    const char *me;   /* unique per process, or shared by processes that take turns; copied */
    int slowness;     /* as in kube/lease_step.h */
    const struct transport *transport;
    struct loop *loop;
    const struct clock *clock;
    struct outage *outage; /* as in informer.h */
    loop_fn *on_leading;   /* leading (again) */
    /* the renewal is late or the lease is in doubt: write nothing until on_leading */
    loop_fn *on_suspended;
    loop_fn *on_lost; /* another process leads now: stop at once */
    void *arg;
};

/* Owned by the caller. `o`'s pointers are borrowed; no request before lease_start(). */
struct lease *lease_new(const struct lease_options *o);
/* Starts to acquire the lease and to renew it. */
void lease_start(struct lease *l);
/* Whether this process leads now. */
bool lease_is_leading(const struct lease *l);
/* The time after which no write may start, in loop time; INT64_MIN when not leading. */
int64_t lease_write_fence(const struct lease *l);
/* When it sent the read that found that the holder before was gone, in loop time. INT64_MIN: no
 * read has found that, or there was no other holder. */
int64_t lease_free_ms(const struct lease *l);
/* The other holder, as last seen; NULL: none, or this process leads. Borrowed until the next
 * turn. */
const char *lease_holder(const struct lease *l);
/* Whether this process saw that holder renew the lease: it is alive. */
bool lease_is_renewed(const struct lease *l);
/* The current problem in one sentence, or NULL. Borrowed until the next turn. */
const char *lease_problem(const struct lease *l);
/* Releases the lease after the response to a renewal in flight, so that the next holder need not
 * wait for expiry. Calls on_released on success or failure, at once if there is nothing to
 * release. A caller that cannot wait frees the lease. */
void lease_release(struct lease *l, loop_fn *on_released, void *arg);
/* The same, but deletes the Lease, because no process follows. If that is forbidden, it releases
 * the lease. */
void lease_remove(struct lease *l, loop_fn *on_removed, void *arg);
/* Cancels its requests without releasing the lease. NULL has no effect. */
void lease_free(struct lease *l);

#endif
