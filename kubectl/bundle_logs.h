/* The ends of logs for a bundle: of which pods, in what order, several at once. */
#ifndef OSTLER_KUBECTL_BUNDLE_LOGS_H
#define OSTLER_KUBECTL_BUNDLE_LOGS_H

#include "kubectl/ask.h"

/* Most pods whose logs are read, and how much of each is: so many lines, and of these so much. */
enum { BUNDLE_LOGS_PODS = 60, BUNDLE_LOGS_LINES = 300, BUNDLE_LOGS_KIB = 256 };

/* What came of it, in pods. */
struct bundle_logs {
    size_t read;
    size_t more;  /* have logs, too, and were left out: there were too many */
    size_t down;  /* are on nodes that are down: nobody answers for them */
};

/* Called for each log: its text without what a terminal would obey, or NULL and why it could not be had. `cut`: its lines are
 * longer than BUNDLE_LOGS_KIB, and the first of them are left out. */
typedef void bundle_log_fn(void *arg, const char *file, const char *text, bool cut, const char *why);

/* Reads them: of pods that are in trouble first. Nodes are down whose GpuNode among `reports` says so. */
void bundle_logs_read(struct ask *a, const json_t *pods, const json_t *reports, bundle_log_fn *fn, void *arg,
                      struct bundle_logs *ret);
/* Whether all of a pod's containers are up. */
bool bundle_pod_is_ready(const json_t *pod);

#endif
