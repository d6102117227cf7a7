/* Events (events.k8s.io/v1) for people: on transitions, never per pass. The same event again becomes a series; a flood is
 * dropped, of what is important apart from the rest. Sending never holds anything up and its failure fails nothing. */
#ifndef OSTLER_RUNTIME_RECORDER_H
#define OSTLER_RUNTIME_RECORDER_H

#include <stdbool.h>

#include "kube/transport.h"
#include "runtime/loop.h"

struct recorder;

/* What an event is about; cluster-scoped objects only. Text is copied. */
struct event_object {
    enum resource_id resource;
    const char *name;
    const char *uid;
};

struct event {
    struct event_object regarding;
    bool warning;       /* type Warning rather than Normal */
    bool important;     /* counts with its like alone: however much else is said, there is as much room for these */
    const char *reason; /* CamelCase */
    const char *action; /* CamelCase: what was done */
    const char *note;   /* the sentence; cut to 1 KiB */
};

struct recorder_options {
    const struct transport *transport;
    struct loop *loop;
    const struct clock *clock;
    const char *instance;        /* reportingInstance: who we are; borrowed */
    int64_t (*fence)(void *arg); /* as in executor.h */
    void *arg;
};

/* Owned by the caller. What `o` points to is borrowed and outlives it. */
struct recorder *recorder_new(const struct recorder_options *o);
/* Takes an Event to be written; all of it is copied. What is too much is dropped and counted. */
void recorder_event(struct recorder *r, const struct event *e);
/* Events that were dropped: too many of an object, or too many at once. */
uint64_t recorder_dropped(const struct recorder *r);
/* Drops what was not sent yet. NULL is none. */
void recorder_free(struct recorder *r);

#endif
