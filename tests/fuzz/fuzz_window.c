/* Any maintenance windows at any time, against a look at every minute that an opening could be at:
 * whether one is open, that this does not change before it is said to, and that it does then.
 * Input: a line with the time, the duration in seconds and the zone; then a schedule per line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reconcilers/model/calendar.h"
#include "reconcilers/model/window.h"
#include "reconcilers/model/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    WINDOWS = 3,
    DURATION_MAX_S = 26 * 3600, /* beyond a day, and still a short look */
    TIME_MAX_S = 2000000000,    /* 2033 */
    YEARS_S = 5 * 366 * CALENDAR_DAY_S,
};

/* Fails the run. */
#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Whether a schedule has a minute, read off its bits. */
static bool has_minute(const struct schedule *s, int64_t minute)
{
    int64_t day = calendar_floor(minute, CALENDAR_DAY_MINUTES);
    int64_t of_day = minute - day * CALENDAR_DAY_MINUTES;
    struct date date = calendar_date(day);
    bool by_day = s->days >> date.day & 1, by_weekday = s->weekdays >> calendar_weekday(day) & 1;
    return s->minutes >> of_day % 60 & 1 && s->hours >> of_day / 60 & 1 &&
           s->months >> date.month & 1 &&
           (s->either_day ? by_day || by_weekday : by_day && by_weekday);
}

/* Clocks are at most 14 hours from UTC, and skip at most 3. */
static bool is_open(const struct window *w, int64_t at_s)
{
    if (!w->zone)
        return false;
    int64_t middle = calendar_floor(at_s + zone_offset(w->zone, at_s), 60);
    for (int64_t minute = middle - w->duration_s / 60 - 200; minute <= middle + 200; minute++) {
        if (!has_minute(&w->schedule, minute))
            continue;
        int64_t begin_s = zone_to_utc(w->zone, minute * 60);
        if (begin_s <= at_s && at_s < begin_s + w->duration_s)
            return true;
    }
    return false;
}

static bool any_open(const struct window *windows, size_t count, int64_t at_s)
{
    for (size_t i = 0; i < count; i++)
        if (is_open(&windows[i], at_s))
            return true;
    return false;
}

static void check(const struct window *windows, size_t count, int64_t now_s)
{
    int64_t change_s, again_s;
    bool open = windows_open(windows, count, now_s, &change_s);
    DEMAND(change_s > now_s);
    DEMAND(open == any_open(windows, count, now_s));
    int64_t last_s = change_s == INT64_MAX ? now_s + YEARS_S : change_s - 1;
    DEMAND(open == any_open(windows, count, now_s + (last_s - now_s) / 3));
    DEMAND(open == any_open(windows, count, last_s));
    if (change_s == INT64_MAX)
        return;
    DEMAND(change_s <= now_s + YEARS_S);
    bool then = windows_open(windows, count, change_s, &again_s);
    DEMAND(then == any_open(windows, count, change_s));
    /* Only what is always open by many short openings may be looked at again before it changes. */
    DEMAND(then != open || (open && change_s > now_s + CALENDAR_DAY_S && count > 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *text = xstrndup((const char *) data, size);
    struct window windows[WINDOWS];
    size_t count = 0;
    char *rest = text, *line = strsep(&rest, "\n");
    char zone[64] = "";
    long long now_s = 0, duration_s = 0;
    if (sscanf(line, "%12lld %12lld %63s", &now_s, &duration_s, zone) != 3)
        return 0;
    while (count < WINDOWS && (line = strsep(&rest, "\n")))
        count += window_parse(line, 1 + llabs(duration_s) % DURATION_MAX_S, zone, &windows[count]);
    if (count > 0)
        check(windows, count, llabs(now_s) % TIME_MAX_S);
    return 0;
}
