/* A maintenance window: when it opens, by a cron schedule of five fields in a time zone, and for how long. An opening in the hour
 * that the clocks skip is right after the gap; one in the hour that they show twice is at the first. How long is in real time. */
#ifndef OSTLER_RECONCILERS_MODEL_WINDOW_H
#define OSTLER_RECONCILERS_MODEL_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconcilers/model/schedule.h"

struct zone;

struct window {
    struct schedule schedule;
    int64_t duration_s;
    const struct zone *zone; /* NULL: unknown, and the window never opens */
    bool merges;             /* on a day that it has, each opening begins before the one before it is over */
};

/* Reads a window; false when the schedule is none, and the window never opens. */
bool window_parse(const char *schedule, int64_t duration_s, const char *time_zone, struct window *ret);
/* Whether one of the windows is open at a time (seconds of the epoch). No windows at all: always open. `ret_change_s` is when
 * that next changes; INT64_MAX: not within the next five years. Where thousands of short openings of several windows follow on
 * each other it is a time until which nothing changes. */
bool windows_open(const struct window *windows, size_t count, int64_t now_s, int64_t *ret_change_s);

#endif
