/* The process metrics of every Prometheus client: process_cpu_seconds_total,
 * process_resident_memory_bytes and so on. */
#ifndef OSTLER_BASE_PROCESS_H
#define OSTLER_BASE_PROCESS_H

struct metrics;
struct metric;

enum { PROCESS_METRICS = 6 };

/* Handles into the registry, in the order of the table in process.c. */
struct process_metrics {
    struct metric *items[PROCESS_METRICS];
};

/* Adds the metrics to a registry. Call it at program start: it takes the current time as the
 * start time. */
struct process_metrics process_metrics_add(struct metrics *m);
/* Updates all other metrics and leaves out what it cannot read. Call it before each scrape. */
void process_metrics_update(const struct process_metrics *p);

#endif
