/* Calendar arithmetic on days since 1 January 1970. */
#ifndef OSTLER_RECONCILERS_MODEL_CALENDAR_H
#define OSTLER_RECONCILERS_MODEL_CALENDAR_H

#include <stdint.h>

enum { CALENDAR_DAY_S = 86400, CALENDAR_DAY_MINUTES = 1440 };

struct date {
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
};

/* The day of a date. The date must exist. */
int64_t calendar_day(struct date date);
/* The date of a day. */
struct date calendar_date(int64_t day);
/* The year of a day. */
int64_t calendar_year(int64_t day);
/* 0 (Sunday) to 6. */
int calendar_weekday(int64_t day);
/* Number of days in a month (1 to 12) of that year. */
int calendar_month_length(int64_t year, int month);
/* Divides and rounds down, so that times before 1970 get the correct day. */
int64_t calendar_floor(int64_t time, int64_t unit);

#endif
