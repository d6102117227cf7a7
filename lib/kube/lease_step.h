/* Leader election as a pure state machine over a coordination.k8s.io Lease. Rules and times are
 * those of client-go: 15 s lease, 10 s to renew it, a try every 2 s. Expiry counts from when
 * this process saw the record change, never from the times in it. Ostler adds two rules. A
 * leader whose renewal is late stops writing but keeps trying: while the API server is down,
 * there is no other leader either. It gives up only when it sees another holder. A leader whose
 * renewal finds a changed or missing record stops writing at once, however fresh its last
 * renewal is, and reads the record. It continues if the record still names it. */
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

/* Zero-initialised, then `me` set: a candidate that has seen no record. */
struct lease_state {
    char me[LEASE_TEXT_MAX];   /* unique per process, or shared by processes that take turns */
    int slowness;              /* multiplies all times above; 0: 1 */
    char seen[LEASE_TEXT_MAX]; /* renew time and holder of the last seen record, as one text */
    int64_t seen_ms;           /* when `seen` was first seen */
    int64_t seen_duration_ms;  /* the record's lease duration */
    bool leading;              /* may write, until the fence */
    bool led;                  /* has been the leader */
    int64_t renewed_ms;        /* send time of the last successful renewal */
};

enum lease_do {
    LEASE_DO_GET,    /* read the record */
    LEASE_DO_CREATE, /* the record is missing: create it with `me` as holder */
    /* write `me` as holder over the record that was read, guarded by its resourceVersion */
    LEASE_DO_UPDATE,
    LEASE_DO_WAIT, /* continue after delay_ms */
    LEASE_DO_EXIT, /* lost the lease to another holder: stop at once */
};

struct lease_next {
    enum lease_do what;
    int64_t delay_ms;
};

/* The record was read (NULL: it does not exist). */
struct lease_next lease_step_read(struct lease_state *s, const json_t *lease, int64_t now_ms);
/* The API server accepted our create or update, sent at sent_ms. */
struct lease_next lease_step_written(struct lease_state *s, const json_t *lease, int64_t sent_ms,
                                     int64_t now_ms);
/* A read or write failed. */
struct lease_next lease_step_failed(struct lease_state *s, enum err_kind error, int64_t now_ms);
/* The time after which a leader must not write; INT64_MIN when not leading. */
int64_t lease_fence(const struct lease_state *s);
/* The Lease object to send: `previous` (may be NULL) with `me` as holder and all unknown fields
 * kept. `micro` is the time as MicroTime. With `release`: empty holder, 1 s. New reference. */
json_t *lease_record(const struct lease_state *s, const json_t *previous, const char *ns,
                     const char *name, const char *micro, bool release);

#endif
