#include "reconcilers/model/window.h"

#include "reconcilers/model/calendar.h"
#include "reconcilers/model/zone.h"

enum {
    HORIZON_DAYS = 5 * 366,
    /* consecutive openings that are examined: four a day within the horizon */
    RUN_MAX = 8192,
};

bool window_parse(const char *schedule, int64_t duration_s, const char *time_zone,
                  struct window *ret)
{
    *ret = (struct window){ .duration_s = duration_s };
    if (!schedule_parse(schedule, &ret->schedule))
        return false;
    ret->zone = zone_find(time_zone);
    ret->merges = schedule_widest_gap(&ret->schedule) * 60 <= duration_s;
    ret->always = ret->merges && ret->zone && zone_is_fixed(ret->zone) &&
                  schedule_is_daily(&ret->schedule) &&
                  schedule_night(&ret->schedule) * 60 <= duration_s;
    return true;
}

static int64_t opening(const struct window *w, int64_t minute)
{
    return zone_to_utc(w->zone, minute * 60);
}

/* The last minute, on the window's clock, that opens at or before a time and could still be
 * open. */
static int64_t last_minute(const struct window *w, int64_t at_s)
{
    int32_t offset = zone_offset(w->zone, at_s);
    int32_t turned_back = zone_offset(w->zone, at_s - CALENDAR_DAY_S) - offset;
    int64_t local_s = at_s + offset;
    /* In the second of two repeated hours, everything up to the end of the first is past. */
    if (turned_back > 0 && zone_offset(w->zone, at_s - turned_back) != offset)
        local_s += turned_back;
    int64_t to = calendar_floor(local_s, 60);
    int64_t from = to - w->duration_s / 60 - CALENDAR_DAY_MINUTES;
    int64_t minute = schedule_last(&w->schedule, to, from);
    while (minute != SCHEDULE_NONE && opening(w, minute) > at_s)
        minute = schedule_last(&w->schedule, minute - 1, from);
    return minute;
}

/* Until when a window stays open, as far as that day shows; `at_s`: it is closed. */
static int64_t open_until(const struct window *w, int64_t at_s)
{
    if (w->always)
        return INT64_MAX;
    int64_t minute = w->zone ? last_minute(w, at_s) : SCHEDULE_NONE;
    if (minute == SCHEDULE_NONE)
        return at_s;
    int64_t begin = opening(w, minute);
    if (begin + w->duration_s <= at_s)
        return at_s;
    if (w->merges) {
        int64_t day = calendar_floor(minute, CALENDAR_DAY_MINUTES);
        int64_t last = day * CALENDAR_DAY_MINUTES + schedule_end_of_day(&w->schedule);
        /* Not across a clock change, which can make a gap. */
        if (opening(w, last) - begin == (last - minute) * 60)
            begin = opening(w, last);
    }
    return begin + w->duration_s;
}

/* The first opening after a time; INT64_MAX: none up to `end_s`. */
static int64_t next_opening(const struct window *w, int64_t after_s, int64_t end_s)
{
    if (!w->zone)
        return INT64_MAX;
    int64_t from = calendar_floor(after_s + zone_offset(w->zone, after_s), 60) + 1;
    int64_t to = calendar_floor(end_s + zone_offset(w->zone, end_s), 60);
    int64_t minute = schedule_next(&w->schedule, from, to);
    while (minute != SCHEDULE_NONE && opening(w, minute) <= after_s)
        minute = schedule_next(&w->schedule, minute + 1, to);
    return minute == SCHEDULE_NONE ? INT64_MAX : opening(w, minute);
}

/* When all windows have closed that are open at `now_s` or open before those close; `now_s`: all
 * are closed. */
static int64_t closing(const struct window *windows, size_t count, int64_t now_s, int64_t end_s)
{
    int64_t at_s = now_s, until_s = now_s;
    for (int run = 0; run < RUN_MAX; run++) {
        for (size_t i = 0; i < count; i++) {
            int64_t own_s = open_until(&windows[i], at_s);
            until_s = own_s > until_s ? own_s : until_s;
        }
        if (until_s == at_s || until_s > end_s)
            break;
        at_s = until_s;
    }
    return until_s > end_s ? INT64_MAX : until_s;
}

bool windows_open(const struct window *windows, size_t count, int64_t now_s, int64_t *ret_change_s)
{
    int64_t end_s = now_s + (int64_t) HORIZON_DAYS * CALENDAR_DAY_S;
    int64_t change_s = count > 0 ? closing(windows, count, now_s, end_s) : INT64_MAX;
    bool open = change_s > now_s;
    for (size_t i = 0; i < count && !open; i++) {
        int64_t own_s = next_opening(&windows[i], now_s, end_s);
        change_s = i == 0 || own_s < change_s ? own_s : change_s;
    }
    *ret_change_s = change_s;
    return open;
}

size_t windows_ahead(const struct window *windows, size_t count, int64_t now_s, size_t max,
                     struct window_span ret[])
{
    size_t n = 0;
    int64_t at_s = now_s, change_s;
    /* Each span takes two looks. Openings that follow on each other may take more for one. */
    for (size_t looks = 0; count > 0 && looks < 2 * max && at_s < INT64_MAX; looks++) {
        bool open = windows_open(windows, count, at_s, &change_s);
        if (open && n > 0 && ret[n - 1].closes_s == at_s)
            ret[n - 1].closes_s = change_s;
        else if (open)
            ret[n++] = (struct window_span){ at_s, change_s };
        at_s = change_s;
    }
    return n;
}
