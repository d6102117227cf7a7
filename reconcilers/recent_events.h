/* The newest Events that Ostler itself sent, for the stories on the fleet page: a bounded list,
 * which goes with the process. */
#ifndef OSTLER_RECONCILERS_RECENT_EVENTS_H
#define OSTLER_RECONCILERS_RECENT_EVENTS_H

#include <jansson.h>
#include <sys/queue.h>

#include "kube/actions.h"

/* Memory for all of them, in bytes; longest sentence that is kept. */
enum { RECENT_EVENTS_MAX = 32 * 1024, RECENT_NOTE_MAX = 512 };

/* An Event is known by its object, reason and sentence: a repetition counts. */
struct recent_event {
    STAILQ_ENTRY(recent_event) link;
    int64_t last_s; /* epoch seconds */
    unsigned count;
    enum resource_id resource;
    bool warning;
    const char *reason; /* static */
    size_t bytes;       /* that it takes */
    char *note;         /* behind the name */
    char name[];
};

/* The oldest first. */
struct recent_events {
    STAILQ_HEAD(, recent_event) list;
    size_t bytes;
};

void recent_events_init(struct recent_events *r);
/* Takes an Event that is sent now; the oldest ones go if there is no room. */
void recent_events_add(struct recent_events *r, const struct notice *n, int64_t now_s);
/* Those about an object of a kind, as the API server would have them. New reference. */
json_t *recent_events_of(const struct recent_events *r, enum resource_id resource,
                         const char *name);
/* Frees them. */
void recent_events_clear(struct recent_events *r);

#endif
