/* What a command has read of a cluster, as one JSON object, and what follows from more than one part of it. Members: "policy",
 * "reports" (GpuNodes), "lease", "nodes", "pods", "daemonsets", "events": objects and lists as the API server gives them, absent
 * where they were not read; "missing": why not, by member. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_SNAPSHOT_H
#define OSTLER_KUBECTL_VIEW_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kubectl/view/term.h"
#include "reconcilers/model/claim.h"

/* Whether Ostler itself lives: {"state": "Alive", "Silent", "Released", "Absent" or "Unknown", "holder", "renewed", "seconds",
 * "message"}. New reference. */
json_t *snapshot_ostler(const json_t *snapshot, int64_t now_us);
/* Who keeps the policy besides people, as a sentence that says what becomes of a change: "Argo CD (application x) …"; NULL:
 * nobody that is known. Owned by the caller. */
char *snapshot_keeper(const json_t *object);
/* Who set a field of an object last, and when, as its managedFields say: "kubectl-cordon at 2026-…"; `path` are keys as they have
 * them, apart by spaces: "f:spec f:unschedulable". NULL: it does not say. Owned by the caller. */
char *snapshot_setter(const json_t *object, const char *path);
/* The member of a list whose metadata.name is that. Borrowed; NULL: none. */
const json_t *snapshot_find(const json_t *list, const char *name);
/* The state that a report says. One without a state is of a node that Ostler does not look after: "Unmanaged". Borrowed. */
const char *snapshot_node_state(const json_t *report);
/* Whether the status of a report names a target other than what the node has, of any tier. */
bool seen_is_outdated(const json_t *status);
/* Whether a report may not know yet what the policy wants: it is of an earlier generation, and Ostler has not looked at the
 * newest one, or no longer wants the revisions that the report names as targets. A pause and its end change no target. */
bool snapshot_report_is_stale(const json_t *report, const json_t *policy);
/* Whether a person holds a Node: the label's value is anything but "false". */
bool snapshot_node_is_held(const json_t *node);
/* What becomes of a claimed node that a person holds or cordons. */
enum held_way {
    HELD_IN_SERVICE, /* its claim does not close it */
    HELD_BACK,       /* it goes back into service */
    HELD_STAYS,      /* it stays closed as it is */
    HELD_GOES_ON,    /* its upgrade goes on */
    HELD_FAILED,     /* it stays out of service: neither tried again nor rolled back */
    HELD_WAY_COUNT
};
enum held_way snapshot_held_way(const json_t *node, const struct claim *c);
/* Names that are like one that is not there, the likest first, at most `max`. New reference. */
json_t *snapshot_similar_names(const json_t *names, const char *name, size_t max);
/* Why parts could not be read, a sentence on each line, in the colour of things that are missing. */
void snapshot_print_missing(const json_t *missing, const struct paint *p, struct buf *out);

#endif
