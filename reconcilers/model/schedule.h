/* A cron schedule of five fields, on a clock without a time zone: minutes since 1 January 1970. */
#ifndef OSTLER_RECONCILERS_MODEL_SCHEDULE_H
#define OSTLER_RECONCILERS_MODEL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* One bit for each value that a field allows. */
struct schedule {
    uint64_t minutes; /* 0 to 59 */
    uint32_t hours;   /* 0 to 23 */
    uint32_t days;    /* 1 to 31 */
    uint16_t months;  /* 1 to 12 */
    uint8_t weekdays; /* 0 (Sunday) to 6 */
    bool either_day;  /* neither days nor weekdays is `*`: then one match is enough (crontab(5)) */
};

/* No such minute. */
#define SCHEDULE_NONE INT64_MIN

/* Parses "0 2 * * 6"; false: invalid. A field is a comma-separated list of `*`, numbers and ranges,
 * each with an optional step. A range whose end is smaller wraps around: "22-4" are the hours of a
 * night. A number with a step runs to the end of the field. */
bool schedule_parse(const char *text, struct schedule *ret);
/* Whether it ever fires: "0 0 30 2 *" never does. */
bool schedule_fires(const struct schedule *s);
/* The first minute of the schedule in [from, to]; SCHEDULE_NONE: there is none. */
int64_t schedule_next(const struct schedule *s, int64_t from, int64_t to);
/* The last minute of the schedule in [from, to]; SCHEDULE_NONE: there is none. */
int64_t schedule_last(const struct schedule *s, int64_t to, int64_t from);
/* The last minute of the day at which it fires. */
int schedule_end_of_day(const struct schedule *s);
/* Whether it fires every day. */
bool schedule_is_daily(const struct schedule *s);
/* The minutes from its last firing of one day to its first one of the next, if it fires on both. */
int schedule_night(const struct schedule *s);
/* The longest gap, in minutes, between two consecutive firings on one day. */
int schedule_widest_gap(const struct schedule *s);

#endif
