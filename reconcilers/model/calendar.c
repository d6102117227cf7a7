#include "reconcilers/model/calendar.h"

#include <stdbool.h>

static bool is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The day number of 1 January. */
static int64_t first_day(int64_t year)
{
    int64_t y = year - 1;
    int64_t leap_days = calendar_floor(y, 4) - calendar_floor(y, 100) + calendar_floor(y, 400);
    return y * 365 + leap_days - 719162; /* days before 1970 */
}

int calendar_month_length(int64_t year, int month)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return lengths[month - 1] + (month == 2 && is_leap_year(year));
}

int64_t calendar_day(struct date date)
{
    static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    return first_day(date.year) + before[date.month - 1] +
           (date.month > 2 && is_leap_year(date.year)) + date.day - 1;
}

int64_t calendar_year(int64_t day)
{
    /* Days in 400 years; at most one year off. */
    int64_t year = 1970 + calendar_floor(day * 400, 146097);
    while (day < first_day(year))
        year--;
    while (day >= first_day(year + 1))
        year++;
    return year;
}

struct date calendar_date(int64_t day)
{
    int64_t year = calendar_year(day);
    int64_t rest = day - first_day(year);
    int month = 1;
    for (; rest >= calendar_month_length(year, month); month++)
        rest -= calendar_month_length(year, month);
    return (struct date){ .year = year, .month = month, .day = (int) rest + 1 };
}

int calendar_weekday(int64_t day)
{
    int64_t since_thursday = day % 7;
    return (int) ((since_thursday + 7 + 4) % 7);
}

int64_t calendar_floor(int64_t time, int64_t unit)
{
    return time / unit - (time % unit < 0);
}
