/* A cron schedule of five fields in numbers, on a clock that knows no time zone: minutes since 1 January 1970. */
#ifndef OSTLER_RECONCILERS_MODEL_SCHEDULE_H
#define OSTLER_RECONCILERS_MODEL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* One bit per value that a field allows. */
struct schedule {
    uint64_t minutes;  /* 0 to 59 */
    uint32_t hours;    /* 0 to 23 */
    uint32_t days;     /* 1 to 31 */
    uint16_t months;   /* 1 to 12 */
    uint8_t weekdays;  /* 0 (Sunday) to 6 */
    bool either_day;   /* neither days nor weekdays has a `*`: then one of both is enough (crontab(5)) */
};

/* No such minute. */
#define SCHEDULE_NONE INT64_MIN

/* Reads "0 2 * * 6"; false when it is no schedule. A field holds items between commas: `*`, a number, or a range, each with or
 * without a step. A range whose end is the smaller number goes past the end of the field: "22-4" are the hours of a night.
 * A number with a step goes on to the end of the field. */
bool schedule_parse(const char *text, struct schedule *ret);
/* Whether there is any such day: none is in "0 0 30 2 *". */
bool schedule_fires(const struct schedule *s);
/* The first minute of a schedule at or after one, and at most another; SCHEDULE_NONE: there is none. */
int64_t schedule_next(const struct schedule *s, int64_t from, int64_t to);
/* The last minute of a schedule at or before one, and at least another; SCHEDULE_NONE: there is none. */
int64_t schedule_last(const struct schedule *s, int64_t to, int64_t from);
/* The last minute that a schedule has on the days that it has. */
int schedule_end_of_day(const struct schedule *s);
/* The most minutes between two that follow on each other on one day. */
int schedule_widest_gap(const struct schedule *s);

#endif
