/* Log tails for a support bundle: which pods, in which order, several at once. */
#ifndef OSTLER_KUBECTL_BUNDLE_LOGS_H
#define OSTLER_KUBECTL_BUNDLE_LOGS_H

#include "kubectl/ask.h"

/* Most pods whose logs are read; most lines and KiB of each log. */
enum { BUNDLE_LOGS_PODS = 60, BUNDLE_LOGS_LINES = 300, BUNDLE_LOGS_KIB = 256 };

/* The result, in numbers of pods. */
struct bundle_logs {
    size_t read;
    size_t more; /* omitted because of the limit */
    size_t down; /* omitted because their nodes are down */
};

/* Called for each log: its sanitised text, or NULL and the reason. `cut`: the lines exceed
 * BUNDLE_LOGS_KIB, so the first lines are missing. */
typedef void bundle_log_fn(void *arg, const char *file, const char *text, bool cut,
                           const char *why);

/* Reads the logs, those of failing pods first. `reports` (GpuNodes) say which nodes are down. */
void bundle_logs_read(struct ask *a, const json_t *pods, const json_t *reports, bundle_log_fn *fn,
                      void *arg, struct bundle_logs *ret);

#endif
