#include "simulation_print.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"

enum { MINUTE_S = 60, HOUR_S = 3600, SECOND_MS = 1000 };

json_t *simulation_assumptions(const struct options *o)
{
    json_t *list = json_array();
    json_array_append_new(list,
                          json_textf("a driver installs in %lld s (--driver-takes), an image is pulled in %lld s (--pull-takes)",
                                     (long long) o->driver_takes_ms / SECOND_MS, (long long) o->pull_takes_ms / SECOND_MS));
    json_array_append_new(list, o->jobs_end_after_ms
                                    ? json_textf("each job ends %lld s after the beginning (--jobs-end-after)",
                                                 (long long) o->jobs_end_after_ms / SECOND_MS)
                                    : json_string("how long jobs run is not known: they do not end (--jobs-end-after)"));
    json_array_append_new(
        list, json_string("every image can be pulled, every driver comes up, no node goes down, nobody else does anything"));
    json_array_append_new(
        list,
        json_string("the plan is approved and not paused; nodes that were under way when the cluster was read are through"));
    json_array_append_new(list, json_string("pods that leave are made again, by whoever owns them, where there are free GPUs"));
    return list;
}

static void print_span(int64_t s)
{
    printf("%lld:%02lld:%02lld", (long long) (s / HOUR_S), (long long) (s / MINUTE_S % MINUTE_S), (long long) (s % MINUTE_S));
}

static void print_row(const json_t *row)
{
    print_span(json_int(row, "second", 0));
    printf("  %-24s %-14s %s\n", json_str_or_empty(row, "node"), json_str_or_empty(row, "step"),
           json_str_or_empty(row, "message"));
}

static void print_summary(const json_t *s)
{
    int64_t nodes = json_int(s, "nodes", 0);
    size_t i;
    json_t *node;
    printf("\n%s after ", json_bool(s, "complete", false) ? "complete" : "nobody comes further");
    print_span(json_int(s, "seconds", 0));
    printf(": %lld node%s upgraded", (long long) nodes, nodes == 1 ? "" : "s");
    if (nodes)
        printf(", %lld s each, %lld s the slowest", (long long) json_int(s, "secondsPerNode", 0),
               (long long) json_int(s, "secondsOfTheSlowest", 0));
    printf("; %zu pods evicted, %lld tries failed\n", json_array_size(json_object_get(s, "evicted")),
           (long long) json_int(s, "failures", 0));
    if (!json_bool(s, "complete", false))
        printf("%s: %s\n", json_str_or_empty(s, "reason"), json_str_or_empty(s, "message"));
    json_array_foreach (json_object_get(s, "standing"), i, node)
        printf("  %-24s %-14s %s\n", json_str_or_empty(node, "node"), json_str_or_empty(node, "state"),
               json_str_or_empty(node, "message"));
}

void simulation_print(const json_t *told)
{
    size_t i;
    json_t *item;
    printf("assumed:\n");
    json_array_foreach (json_object_get(told, "assumptions"), i, item)
        printf("  %s\n", json_string_value(item));
    printf("\n");
    json_array_foreach (json_object_get(told, "timeline"), i, item)
        print_row(item);
    print_summary(json_object_get(told, "summary"));
}
