#include "base/process.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/metrics.h"

static void close_file(FILE **f)
{
    if (*f)
        fclose(*f);
}
#define CLEANUP_FILE CLEANUP(close_file)

static double seconds(struct timeval t)
{
    return (double) t.tv_sec + (double) t.tv_usec / 1e6;
}

/* Each returns the value, or NaN if it is not readable. */

static double cpu_seconds(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? seconds(u.ru_utime) + seconds(u.ru_stime) : NAN;
}

/* A field of statm, which counts pages. */
static double statm_bytes(int field)
{
    CLEANUP_FILE FILE *f = fopen("/proc/self/statm", "re");
    double pages[2];
    if (!f || fscanf(f, "%lf %lf", &pages[0], &pages[1]) != 2)
        return NAN;
    return pages[field] * (double) sysconf(_SC_PAGESIZE);
}

static double virtual_bytes(void)
{
    return statm_bytes(0);
}

static double resident_bytes(void)
{
    return statm_bytes(1);
}

static double open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    if (!d)
        return NAN;
    int n = -1; /* without the directory itself */
    const struct dirent *entry;
    while ((entry = readdir(d)))
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static double max_descriptors(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double) limit.rlim_cur : NAN;
}

/* The current time. Read it once: a changed start time looks like a restart. */
static double start_time(void)
{
    struct clock clock = clock_system();
    return (double) clock_wall_us(&clock) / 1e6;
}

static const struct row {
    const char *name, *help;
    enum metric_kind kind;
    double (*read)(void);
    bool once;
} rows[PROCESS_METRICS] = {
    { "process_cpu_seconds_total", "User and system CPU time spent.", METRIC_COUNTER, cpu_seconds,
      false },
    { "process_resident_memory_bytes", "Resident memory.", METRIC_GAUGE, resident_bytes, false },
    { "process_virtual_memory_bytes", "Virtual memory.", METRIC_GAUGE, virtual_bytes, false },
    { "process_open_fds", "Open file descriptors.", METRIC_GAUGE, open_descriptors, false },
    { "process_max_fds", "Limit of open file descriptors.", METRIC_GAUGE, max_descriptors, false },
    { "process_start_time_seconds", "Start, seconds since 1970.", METRIC_GAUGE, start_time, true },
};

static void read_row(const struct process_metrics *p, size_t i)
{
    double value = rows[i].read();
    if (isnan(value))
        metric_drop(p->items[i], NULL);
    else
        metric_set(p->items[i], NULL, value);
}

struct process_metrics process_metrics_add(struct metrics *m)
{
    struct process_metrics p;
    for (size_t i = 0; i < PROCESS_METRICS; i++) {
        p.items[i] = metrics_add(m, &(struct metric_desc){ .name = rows[i].name,
                                                           .help = rows[i].help,
                                                           .kind = rows[i].kind });
        read_row(&p, i);
    }
    return p;
}

void process_metrics_update(const struct process_metrics *p)
{
    for (size_t i = 0; i < PROCESS_METRICS; i++) {
        if (!rows[i].once)
            read_row(p, i);
    }
}
