/* A maintenance window: a cron schedule of five fields in a time zone that opens it, and its
 * duration. An opening in the hour that the clocks skip moves to just after the gap. In the hour
 * that the clocks repeat, the first one counts. The duration is real time. */
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
    const struct zone *zone; /* NULL: unknown, so the window never opens */
    bool merges; /* on a day when it opens, each opening starts before the previous one ends */
    bool always; /* it is open at all times */
};

/* Parses a window; false: the schedule is invalid, and the window never opens. */
bool window_parse(const char *schedule, int64_t duration_s, const char *time_zone,
                  struct window *ret);
/* Whether any window is open at a time (epoch seconds). Without windows: always. `ret_change_s` is
 * the next change; INT64_MAX: none in the next five years. If thousands of short openings of
 * several windows follow each other, `ret_change_s` may be an earlier time until which nothing
 * changes. */
bool windows_open(const struct window *windows, size_t count, int64_t now_s, int64_t *ret_change_s);

/* A time in which windows are open, in epoch seconds. */
struct window_span {
    int64_t opens_s;  /* `now_s` if they are open then */
    int64_t closes_s; /* INT64_MAX: not in the next five years; else as windows_open() has it */
};

/* The first spans from `now_s` on, in order; returns how many, at most `max`. */
size_t windows_ahead(const struct window *windows, size_t count, int64_t now_s, size_t max,
                     struct window_span ret[]);

#endif
