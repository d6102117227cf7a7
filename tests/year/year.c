/* A year of a fleet, as tables of docs/health.md: `year [--nodes N] [--days N] [--seed N]
 * [--rate N] [--way NAME]`. Without arguments: 50 nodes that get the faults of 1,000. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/str.h"
#include "tests/year/year.h"

/* Hardware faults in a million GPU-days: 148 + 72 + 19 + 17 of "The Llama 3 Herd of Models", table
 * 5 (GPU, HBM3, SRAM, system processor), in 54 days of 16,384 GPUs. */
#define RATE 300

static const char *const way_names[WAYS] = { "Observe", "Close", "Repair", "NVSentinel", "EKS" };

static int by_size(const void *one, const void *other)
{
    const double *a = one, *b = other;
    return *a < *b ? -1 : *a > *b;
}

/* A duration as people say it. */
static void print_span(double seconds)
{
    if (seconds < 120)
        printf("%.0f s", seconds);
    else if (seconds < 7200)
        printf("%.0f min", seconds / 60);
    else
        printf("%.1f h", seconds / 3600);
}

static void print_times(double *list, size_t count)
{
    if (count == 0) {
        printf(" – |");
        return;
    }
    qsort(list, count, sizeof *list, by_size);
    printf(" ");
    print_span(list[count / 2]);
    printf(", ");
    print_span(list[count * 99 / 100]);
    printf(" |");
}

struct row {
    const char *name;
    void (*print)(struct year_sums *s);
};

static void print_lost(struct year_sums *s)
{
    printf(" %.0f |", s->open_h + s->closed_h + s->part_h + s->jobs_h);
}

#define NUMBER(name, member, format)                                                               \
    static void print_##name(struct year_sums *s)                                                  \
    {                                                                                              \
        printf(" " format " |", s->member);                                                        \
    }
NUMBER(open, open_h, "%.0f")
NUMBER(closed, closed_h, "%.0f")
NUMBER(part, part_h, "%.0f")
NUMBER(jobs, jobs_h, "%.0f")
NUMBER(failed, failed_jobs, "%lu")
NUMBER(killed, killed_jobs, "%lu")
NUMBER(evictions, evictions, "%lu")
NUMBER(closings, closings, "%lu")
NUMBER(early, closed_early, "%lu")
NUMBER(falsely, closed_falsely, "%lu")
NUMBER(persons, persons, "%lu")

static void print_until_closed(struct year_sums *s)
{
    print_times(s->until_closed_s, s->until_closed_count);
}

static void print_until_back(struct year_sums *s)
{
    print_times(s->until_back_s, s->until_back_count);
}

static const struct row rows[] = {
    { "node-hours lost", print_lost },
    { "– broken and open: jobs fail there", print_open },
    { "– closed, withheld or down", print_closed },
    { "– another GPU has to come", print_part },
    { "– work of jobs that ended early", print_jobs },
    { "starts of jobs that failed, one a minute", print_failed },
    { "jobs that a fault ended", print_killed },
    { "pods evicted, with Observe and Close by a person", print_evictions },
    { "nodes closed", print_closings },
    { "– though a reset could wait", print_early },
    { "– though nothing was wrong", print_falsely },
    { "visits of a person", print_persons },
    { "fault until no job gets the GPU: median, 99 %", print_until_closed },
    { "fault to service: median, 99 %", print_until_back },
};

static void print_faults(const struct year_options *o)
{
    size_t count;
    struct year_fault *faults = year_faults(o, 0, o->days * DAY_MS, &count);
    printf("| Xid | faults | of these only another GPU ends |\n| --- | --- | --- |\n");
    for (size_t k = 0; k < year_kind_count; k++) {
        size_t n = 0, sticky = 0;
        for (size_t i = 0; i < count; i++) {
            n += faults[i].kind == &year_kinds[k];
            sticky += faults[i].kind == &year_kinds[k] && faults[i].sticky;
        }
        printf("| %s | %zu | %zu |\n", year_kinds[k].name, n, sticky);
    }
    free(faults);
}

/* ---- the command line */

static bool read_way(const char *text, int *ret)
{
    for (int w = 0; w < WAYS; w++)
        if (str_eq(text, way_names[w]))
            *ret = w;
    return *ret >= 0;
}

static bool read_options(int argc, char **argv, struct year_options *o, int *ret_only)
{
    int64_t nodes = 50, seed = 1;
    const struct {
        const char *name;
        int64_t *to;
    } numbers[] = {
        { "--nodes", &nodes }, { "--days", &o->days }, { "--seed", &seed }, { "--rate", &o->rate }
    };
    for (int i = 1; i < argc; i += 2) {
        bool fine = i + 1 < argc && str_eq(argv[i], "--way") && read_way(argv[i + 1], ret_only);
        for (size_t k = 0; k < ARRAY_LEN(numbers) && i + 1 < argc; k++)
            fine |= str_eq(argv[i], numbers[k].name) &&
                    str_parse_int(argv[i + 1], 1, 1000000, numbers[k].to);
        if (!fine)
            return false;
    }
    o->nodes = (size_t) nodes;
    o->seed = (uint64_t) seed;
    return true;
}

static void print_table(struct year_sums *sums, int only)
{
    printf("\n| |");
    for (int w = 0; w < WAYS; w++)
        if (only < 0 || only == w)
            printf(" %s |", way_names[w]);
    printf("\n| --- |");
    for (int w = 0; w < WAYS; w++)
        if (only < 0 || only == w)
            printf(" --- |");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        printf("\n| %s |", rows[i].name);
        for (int w = 0; w < WAYS; w++)
            if (only < 0 || only == w)
                rows[i].print(&sums[w]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct year_options o = { .days = 365, .rate = 20 * RATE };
    struct year_sums sums[WAYS] = { 0 };
    int only = -1;
    mem_hook_jansson();
    log_setup(LOG_SILENT, false);
    if (!read_options(argc, argv, &o, &only)) {
        fprintf(stderr, "usage: year [--nodes N] [--days N] [--seed N] [--rate N] [--way NAME]\n");
        return 2;
    }
    for (int w = 0; w < WAYS; w++) {
        o.way = (enum way) w;
        if (only < 0 || only == w)
            fleet_live(&o, &sums[w]);
    }
    print_faults(&o);
    print_table(sums, only);
    for (int w = 0; w < WAYS; w++) {
        free(sums[w].until_closed_s);
        free(sums[w].until_back_s);
    }
    return 0;
}
