/* Windows of a policy, minute by minute with the C library's clock: slow, and short. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sweep/reading.h"

enum { MINUTE_S = 60, FIELDS = 5, FIELD_MAX = 64 };

/* Whether one part of a field, "*", "5", "1-3", each with or without "/2", names a value. */
static bool part_names(const char *part, int value, int min, int max)
{
    int from = min, to = max, step = 1, used = 0;
    const char *slash = strchr(part, '/');
    if (slash)
        step = atoi(slash + 1);
    if (*part != '*') {
        used = sscanf(part, "%d-%d", &from, &to);
        if (used == 1)
            to = slash ? max : from;
    }
    return step > 0 && value >= from && value <= to && (value - from) % step == 0;
}

static bool field_names(const char *field, int value, int min, int max)
{
    char text[FIELD_MAX], *rest = text;
    snprintf(text, sizeof text, "%s", field);
    for (const char *part; (part = strsep(&rest, ","));)
        if (part_names(part, value, min, max))
            return true;
    return false;
}

/* Days of the month and of the week: one of them is enough where both are said. */
static bool names_day(const char *day, const char *weekday, const struct tm *t)
{
    bool by_day = field_names(day, t->tm_mday, 1, 31);
    bool by_week = field_names(weekday, t->tm_wday, 0, 7) ||
                   (t->tm_wday == 0 && field_names(weekday, 7, 0, 7));
    return *day == '*' || *weekday == '*' ? by_day && by_week : by_day || by_week;
}

static bool schedule_names(const char *schedule, const struct tm *t)
{
    char f[FIELDS][FIELD_MAX];
    return sscanf(schedule, "%63s %63s %63s %63s %63s", f[0], f[1], f[2], f[3], f[4]) == FIELDS &&
           field_names(f[0], t->tm_min, 0, 59) && field_names(f[1], t->tm_hour, 0, 23) &&
           field_names(f[3], t->tm_mon + 1, 1, 12) && names_day(f[2], f[4], t);
}

static long offset_at(time_t at)
{
    struct tm t;
    localtime_r(&at, &t);
    return t.tm_gmtoff;
}

/* Whether a window begins at this minute, or at one that the clock has just skipped. */
static bool begins_at(const char *schedule, time_t minute)
{
    long before = offset_at(minute - MINUTE_S), now = offset_at(minute);
    for (long local = now > before ? before : now; local <= now; local += MINUTE_S) {
        struct tm t;
        time_t shown = minute + local;
        gmtime_r(&shown, &t);
        if (schedule_names(schedule, &t))
            return true;
    }
    return false;
}

static bool is_open(const json_t *window, int64_t at_s)
{
    const char *schedule = json_string_value(json_object_get(window, "schedule"));
    const char *duration = json_string_value(json_object_get(window, "duration"));
    int64_t s = duration ? reading_duration_ms(duration) / 1000 : 0;
    for (int64_t minute = at_s - at_s % MINUTE_S; schedule && minute > at_s - s; minute -= MINUTE_S)
        if (begins_at(schedule, (time_t) minute))
            return true;
    return false;
}

static void set_zone(const char *zone)
{
    if (zone)
        setenv("TZ", zone, 1);
    else
        unsetenv("TZ");
    tzset();
}

bool reading_window_open(const json_t *policy, int64_t at_s)
{
    const json_t *windows = json_object_get(
        json_object_get(json_object_get(policy, "spec"), "rollout"), "windows");
    const char *zone = getenv("TZ");
    char *before = zone ? strdup(zone) : NULL;
    bool open = json_array_size(windows) == 0;
    size_t i;
    json_t *window;
    json_array_foreach (windows, i, window) {
        const char *own = json_string_value(json_object_get(window, "timeZone"));
        set_zone(own ? own : "UTC");
        open |= is_open(window, at_s);
    }
    set_zone(before);
    free(before);
    return open;
}
