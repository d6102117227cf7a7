/* Leader election: drives kube/lease_step over the transport. Losing the lease ends the process: whoever led must not
 * write again. */
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
    const char *me;   /* unique per process, or what all who may hold it in turn have in common; copied */
    int slowness;     /* as in kube/lease_step.h */
    const struct transport *transport;
    struct loop *loop;
    const struct clock *clock;
    struct outage *outage; /* as in informer.h */
    loop_fn *on_leading;   /* we lead (again) */
    loop_fn *on_suspended; /* the renewal is late, or the lease is in doubt: nothing may be written until on_leading */
    loop_fn *on_lost;      /* somebody else leads after us: stop now */
    void *arg;
};

/* Owned by the caller. What `o` points to is borrowed; nothing is asked for before lease_start(). */
struct lease *lease_new(const struct lease_options *o);
/* Begins to try for the lease, and to renew it once it is ours. */
void lease_start(struct lease *l);
/* Whether we lead now. */
bool lease_is_leading(const struct lease *l);
/* The moment after which no write may begin, in loop time; INT64_MIN when not leading. */
int64_t lease_write_fence(const struct lease *l);
/* Who holds it instead of us, as far as was seen; NULL: nobody, or we do. Borrowed, until the next turn. */
const char *lease_holder(const struct lease *l);
/* Whether that one has renewed it before our eyes: it lives. */
bool lease_is_renewed(const struct lease *l);
/* What goes wrong at the moment, one sentence, or NULL. Borrowed, until the next turn. */
const char *lease_problem(const struct lease *l);
/* Gives the lease back, so that the next one need not wait for its end, once the answer to a renewal that is on its way has
 * come; on_released when that is done or has failed, at once when there is nothing to give back. Whoever cannot wait for it
 * frees the lease. */
void lease_release(struct lease *l, loop_fn *on_released, void *arg);
/* The same, but the Lease itself is deleted, for nobody is to come after us. Where that is not allowed it is given back. */
void lease_remove(struct lease *l, loop_fn *on_removed, void *arg);
/* Ends its requests without giving the lease back. NULL is none. */
void lease_free(struct lease *l);

#endif
