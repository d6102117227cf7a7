/* A command's snapshot of a cluster as one JSON object, and conclusions from more than one part
 * of it. Members: "policy", "reports" (GpuNodes), "lease", "nodes", "pods", "daemonsets",
 * "events": objects and lists from the API server, absent if not read; "missing": the reason, by
 * member. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_SNAPSHOT_H
#define OSTLER_RECONCILERS_VIEW_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/view/term.h"
#include "reconcilers/model/claim.h"

/* Whether Ostler is alive: {"state": "Alive", "Silent", "Released", "Absent" or "Unknown",
 * "holder", "renewed", "seconds", "message"}. New reference. */
json_t *snapshot_ostler(const json_t *snapshot, int64_t now_us);
/* The tool that manages the policy, as a sentence that says how it treats a change: "Argo CD
 * (application x) …"; NULL: none known. Owned by the caller. */
char *snapshot_keeper(const json_t *object);
/* The manager that last set a field, and when, from managedFields: "kubectl-cordon at 2026-…".
 * `path` has their keys, separated by spaces: "f:spec f:unschedulable". NULL: unknown. Owned by
 * the caller. */
char *snapshot_setter(const json_t *object, const char *path);
/* The items of a list by their keys, "name" or "namespace/name". New reference. */
json_t *snapshot_by_key(const json_t *list);
/* A list in order; equal items keep theirs. Takes the list. New reference. */
json_t *snapshot_sorted(json_t *list_steal, int (*compare)(const json_t *a, const json_t *b));
/* The integer at a path, for %lld; 0 if absent. */
long long snapshot_count(const json_t *object, const char *path);
/* The item of a list with this metadata.name, or NULL. Borrowed. */
const json_t *snapshot_find(const json_t *list, const char *name);
/* The state in a report. A report without one is for a node that Ostler does not manage:
 * "Unmanaged". Borrowed. */
const char *snapshot_node_state(const json_t *report);
/* Whether a report's status has, for any tier, a target that differs from the node's revision. */
bool seen_is_outdated(const json_t *status);
/* Whether a report may predate the current policy. It is for an earlier generation, and Ostler
 * has not observed the newest one, or does not want the report's target revisions. A pause and
 * its end change no target. */
bool snapshot_report_is_stale(const json_t *report, const json_t *policy);
/* Whether a Node has the hold label with any value but "false". */
bool snapshot_node_is_held(const json_t *node);
/* Whether a text can be a name of a node, and so part of a path or of a command to copy. */
bool snapshot_is_name(const char *name);
/* What happens to a claimed node that an admin holds or cordons. */
enum held_way {
    HELD_IN_SERVICE, /* its claim does not taint it */
    HELD_BACK,       /* returns to service */
    HELD_STAYS,      /* stays out of service, unchanged */
    HELD_GOES_ON,    /* its upgrade continues */
    HELD_FAILED,     /* stays out of service: neither retried nor rolled back */
    HELD_WAY_COUNT
};
enum held_way snapshot_held_way(const json_t *node, const struct claim *c);
/* Names similar to a missing one, the most similar first, at most `max`. New reference. */
json_t *snapshot_similar_names(const json_t *names, const char *name, size_t max);
/* Prints why parts were not readable, one line each, dimmed. */
void snapshot_print_missing(const json_t *missing, const struct paint *p, struct buf *out);

#endif
