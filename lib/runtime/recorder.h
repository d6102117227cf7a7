/* Writes Events (events.k8s.io/v1): on transitions, never per pass. A repeated Event becomes a
 * series. A flood is dropped, with limits of its own for each share. Recording never blocks, and
 * its failures have no effect. */
#ifndef OSTLER_RUNTIME_RECORDER_H
#define OSTLER_RUNTIME_RECORDER_H

#include "kube/actions.h"
#include "kube/transport.h"
#include "runtime/loop.h"

struct recorder;

struct recorder_options {
    const struct transport *transport;
    struct loop *loop;
    const struct clock *clock;
    const char *instance;        /* reportingInstance: this process; borrowed */
    int64_t (*fence)(void *arg); /* as in executor.h */
    void *arg;
};

/* Owned by the caller. `o`'s pointers are borrowed and must outlive the recorder. */
struct recorder *recorder_new(const struct recorder_options *o);
/* Queues an Event; `n` is borrowed for the call. Beyond the limits it drops and counts the Event.
 */
void recorder_event(struct recorder *r, const struct notice *n);
/* Number of dropped Events: too many for one object, or too many at once. */
uint64_t recorder_dropped(const struct recorder *r);
/* Drops unsent Events and frees the recorder. NULL has no effect. */
void recorder_free(struct recorder *r);

#endif
