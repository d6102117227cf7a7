/* What every Prometheus client tells of its own process: process_cpu_seconds_total, process_resident_memory_bytes and so on. */
#ifndef OSTLER_BASE_PROCESS_H
#define OSTLER_BASE_PROCESS_H

struct metrics;
struct metric;

enum { PROCESS_METRICS = 6 };

/* Handles into the registry, in the order of the table in process.c. */
struct process_metrics {
    struct metric *items[PROCESS_METRICS];
};

/* Adds the metrics to a registry; call at the program's start, which is taken for the start time. */
struct process_metrics process_metrics_add(struct metrics *m);
/* Sets the others anew; what cannot be read is left out. Call before each scrape. */
void process_metrics_update(const struct process_metrics *p);

#endif
