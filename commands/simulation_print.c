#include "commands/simulation_print.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/claim.h"
#include "commands/plan_print.h"
#include "commands/simulated_world.h"
#include "commands/simulation.h"
#include "commands/simulation_story.h"

enum { MINUTE_S = 60, HOUR_S = 3600, SECOND_MS = 1000 };

/* Rows shown of a long timeline, and of the final states; -o yaml prints everything. */
enum { FIRST_ROWS = 60, LAST_ROWS = 20, STANDING_ROWS = 20 };

/* Nodes named in an assumption. */
enum { NAMES = 10, NAMES_ROOM = 4 << 10 };

/* ---- assumptions */

static json_t *how_long_drivers_take(const struct options *o, const struct rollout_spec *spec)
{
    int64_t takes_ms = simulation_driver_takes_ms(o, spec);
    long long takes_s = (long long) takes_ms / SECOND_MS,
              pull_s = (long long) o->pull_takes_ms / SECOND_MS;
    if (o->driver_takes_ms < 0 && 2 * takes_ms == spec->install_timeout_s * SECOND_MS)
        return json_textf("a driver is up after %lld s, half of spec.rollout.timeouts.install "
                          "(--driver-takes sets another "
                          "time), an image is pulled in %lld s (--pull-takes)",
                          takes_s, pull_s);
    if (takes_s < spec->install_timeout_s)
        return json_textf("a driver is up after %lld s (--driver-takes), an image is pulled in "
                          "%lld s (--pull-takes)",
                          takes_s, pull_s);
    return json_textf(
        "a driver is up after %lld s (--driver-takes), longer than spec.rollout.timeouts.install "
        "(%lld s): nodes that get another driver fail; an image is pulled in "
        "%lld s (--pull-takes)",
        takes_s, (long long) spec->install_timeout_s, pull_s);
}

static json_t *how_long_jobs_take(const struct options *o)
{
    if (!o->jobs_end_after_ms)
        return json_string("jobs do not end, as their run time is unknown (--jobs-end-after)");
    return json_textf("each job ends %lld s after the beginning (--jobs-end-after)",
                      (long long) o->jobs_end_after_ms / SECOND_MS);
}

static json_t *what_goes_well(const json_t *plan)
{
    long long without = (long long) json_int(plan, "plan.withoutImages", 0);
    if (!without)
        return json_string("every image can be pulled, no driver fails, no node goes down, no "
                           "other client changes the cluster");
    return json_textf("every image can be pulled, though %lld node%s could not get %s when the "
                      "cluster was read; no driver "
                      "fails, no node goes down, no other client changes the cluster",
                      without, without == 1 ? "" : "s",
                      without == 1 ? "its images" : "their images");
}

static bool simulation_print_is_down(const struct node_slot *slot)
{
    return slot->summary.state == NODE_LOST;
}

static bool is_not_well(const struct node_slot *slot)
{
    const struct node_summary *s = &slot->summary;
    return simulated_world_has_machine(slot) && s->state != NODE_READY &&
           (!s->moving || s->trouble);
}

/* Names some of the nodes for which an assumption may be surprising, and counts the rest. */
static void add_nodes(json_t *list, const struct cluster *c,
                      bool (*is)(const struct node_slot *slot), const char *what)
{
    CLEANUP_BUF struct buf names = BUF_INIT(NAMES_ROOM);
    size_t found = 0;
    for (size_t i = 0; i < c->slots.len; i++)
        if (is(c->by_name[i]) && found++ < NAMES)
            buf_printf(&names, "%s%s", found > 1 ? ", " : "", c->by_name[i]->name);
    if (found > NAMES)
        buf_printf(&names, " and %zu more", found - NAMES);
    if (found)
        json_array_append_new(list, json_textf("%s: %s", what, buf_text(&names)));
}

json_t *simulation_assumptions(const struct options *o, const struct cluster *c, const json_t *plan)
{
    json_t *list = json_pack(
        "[o, o, o, s, s, s]", how_long_drivers_take(o, &c->rollout), how_long_jobs_take(o),
        what_goes_well(plan), "hosts without Ostler's driver or toolkit have their own",
        "the plan is approved and not paused; nodes that were under way when the cluster was read "
        "are through",
        "owners recreate evicted pods where GPUs are free");
    add_nodes(list, c, simulation_print_is_down, "down when the cluster was read, and still down");
    add_nodes(list, c, is_not_well,
              "not healthy when the cluster was read, and simulated as healthy");
    return list;
}

/* ---- timeline */

static void print_span(int64_t s)
{
    printf("%lld:%02lld:%02lld", (long long) (s / HOUR_S), (long long) (s / MINUTE_S % MINUTE_S),
           (long long) (s % MINUTE_S));
}

static void print_row(const json_t *row)
{
    print_span(json_int(row, "second", 0));
    printf("  %-24s %-14s %s\n", json_str_or_empty(row, "node"), json_str_or_empty(row, "step"),
           json_str_or_empty(row, "message"));
}

/* Whether a row is a routine step between others. */
static bool is_in_between(const json_t *row)
{
    static const enum claim_phase phases[] = { CLAIM_UNLOADING, CLAIM_INSTALLING,
                                               CLAIM_VALIDATING };
    for (size_t i = 0; i < ARRAY_LEN(phases); i++)
        if (str_eq(json_str(row, "step"), claim_phase_name(phases[i])))
            return true;
    return false;
}

/* A shortened timeline. New reference. */
static json_t *in_short(const json_t *timeline)
{
    json_t *rows = json_array();
    JSON_EACH (row, timeline)
        if (json_array_size(timeline) <= FIRST_ROWS + LAST_ROWS || !is_in_between(row))
            json_array_append(rows, row);
    return rows;
}

static void print_timeline(const json_t *timeline)
{
    CLEANUP_JSON json_t *rows = in_short(timeline);
    size_t n = json_array_size(rows),
           left_out = n > FIRST_ROWS + LAST_ROWS ? n - FIRST_ROWS - LAST_ROWS : 0;
    JSON_EACH_AT (i, row, rows) {
        if (left_out && i == FIRST_ROWS)
            printf("… %zu more rows; -o yaml has all of them …\n", left_out);
        if (i < FIRST_ROWS || i >= FIRST_ROWS + left_out)
            print_row(row);
    }
}

static void print_standing(const json_t *standing)
{
    size_t n = json_array_size(standing);
    JSON_EACH_AT (i, node, standing)
        if (i < STANDING_ROWS)
            printf("  %-24s %-14s %s\n", json_str_or_empty(node, "node"),
                   json_str_or_empty(node, "state"), json_str_or_empty(node, "message"));
    if (n > STANDING_ROWS)
        printf("  and %zu more nodes; -o yaml has all of them\n", n - STANDING_ROWS);
}

/* Prints "3 nodes" or "1 node". */
static void print_count(size_t n, const char *what)
{
    printf("%zu %s%s", n, what, n == 1 ? "" : "s");
}

static void print_numbers(const json_t *s)
{
    size_t nodes = (size_t) json_int(s, "nodes", 0),
           back = json_array_size(json_object_get(s, "wentBack"));
    print_count(nodes, "node");
    printf(" upgraded");
    if (nodes)
        printf(", %lld s each, %lld s the slowest", (long long) json_int(s, "secondsPerNode", 0),
               (long long) json_int(s, "secondsOfTheSlowest", 0));
    if (back) {
        printf("; ");
        print_count(back, "node");
        printf(" went back to what %s ran before", back == 1 ? "it" : "they");
    }
    printf("; ");
    print_count(json_array_size(json_object_get(s, "evicted")), "pod");
    printf(" evicted, ");
    print_count((size_t) json_int(s, "failures", 0), "failed attempt");
    printf("\n");
}

static void print_summary(const json_t *s)
{
    printf("\n%s after ", story_end_text(json_str_or_empty(s, "ended")));
    print_span(json_int(s, "seconds", 0));
    printf(": ");
    print_numbers(s);
    if (!json_bool(s, "complete", false))
        printf("%s: %s\n", json_str_or_empty(s, "reason"), json_str_or_empty(s, "message"));
    print_standing(json_object_get(s, "standing"));
}

void simulation_print(const json_t *told)
{
    printf("assumed:\n");
    JSON_EACH (item, json_object_get(told, "assumptions"))
        printf("  %s\n", json_string_value(item));
    plan_print_others(told);
    printf("\n");
    print_timeline(json_object_get(told, "timeline"));
    print_summary(json_object_get(told, "summary"));
}
