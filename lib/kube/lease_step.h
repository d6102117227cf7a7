/* Leader election as a pure state machine over a coordination.k8s.io Lease, with client-go's rules and times: 15 s lease, 10 s to
 * renew it, a try each 2 s. Expiry is judged by when we saw the record change, never by the times written in it. Two rules are
 * our own. A leader whose renewal is late stops writing but goes on trying (an API server that is away has no other leader
 * either); it gives up for good only when it sees that somebody else holds the lease. And a leader whose renewal meets a changed
 * record, or none, stops writing at once, whatever time is left of its last renewal, and reads the record: it goes on when that
 * still names it. */
#ifndef OSTLER_KUBE_LEASE_STEP_H
#define OSTLER_KUBE_LEASE_STEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
    LEASE_DURATION_MS = 15 * 1000,
    LEASE_RENEW_DEADLINE_MS = 10 * 1000,
    LEASE_RETRY_MS = 2 * 1000,
};

enum { LEASE_TEXT_MAX = 256 };

/* Zero-initialised, then `me` set, = a candidate that has seen nothing. */
struct lease_state {
    char me[LEASE_TEXT_MAX];     /* unique per process, or what all who may hold it in turn have in common */
    int slowness;                /* all times are so many times longer than those above; 0: as they are */
    char seen[LEASE_TEXT_MAX];   /* renew time and holder of the record as last seen, as one text */
    int64_t seen_ms;             /* when that was first seen */
    int64_t seen_duration_ms;    /* what the record asks others to wait */
    bool leading;                /* we may write, until the fence */
    bool led;                    /* we have been leading */
    int64_t renewed_ms;          /* when the request of the last successful renewal was sent */
};

enum lease_do {
    LEASE_DO_GET,    /* read the record */
    LEASE_DO_CREATE, /* there is none: create it with us as holder */
    LEASE_DO_UPDATE, /* write us as holder over the record that was read, guarded by its resourceVersion */
    LEASE_DO_WAIT,   /* come back after delay_ms */
    LEASE_DO_EXIT,   /* we led and somebody else does now: stop at once */
};

struct lease_next {
    enum lease_do what;
    int64_t delay_ms;
};

/* The record was read (NULL: there is none). */
struct lease_next lease_step_read(struct lease_state *s, const json_t *lease, int64_t now_ms);
/* Our create or update was accepted; it was sent at sent_ms. */
struct lease_next lease_step_written(struct lease_state *s, const json_t *lease, int64_t sent_ms, int64_t now_ms);
/* Reading or writing failed. */
struct lease_next lease_step_failed(struct lease_state *s, enum err_kind error, int64_t now_ms);
/* The moment after which nothing may be written in the name of the leader; INT64_MIN when not leading. */
int64_t lease_fence(const struct lease_state *s);
/* The Lease object to send: `previous` (may be NULL) with us as holder and every field that we do not know kept. `micro` is the
 * time as MicroTime. A release (empty holder, 1 s) when `release`. New reference. */
json_t *lease_record(const struct lease_state *s, const json_t *previous, const char *ns, const char *name, const char *micro,
                     bool release);

#endif
