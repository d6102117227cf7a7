#include "reconcilers/model/schedule.h"

#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "reconcilers/model/calendar.h"

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

static const struct field {
    int64_t min, max; /* as written: Sunday may also be 7 */
    int64_t size;     /* number of values */
    size_t digits;    /* maximum; one or two */
} fields[FIELDS] = {
    [MINUTE] = { 0, 59, 60, 2 }, [HOUR] = { 0, 23, 24, 2 },  [DAY] = { 1, 31, 31, 2 },
    [MONTH] = { 1, 12, 12, 2 },  [WEEKDAY] = { 0, 7, 7, 1 },
};

/* Reads a number from `min` to `max`. Returns what follows it, or NULL. */
static const char *schedule_read_number(const char *s, size_t digits_max, int64_t min, int64_t max,
                                        int64_t *ret)
{
    size_t n = strspn(s, "0123456789");
    char digits[3] = { 0 };
    if (n < 1 || n > digits_max)
        return NULL;
    memcpy(digits, s, n);
    return str_parse_int(digits, min, max, ret) ? s + n : NULL;
}

/* Adds one item: "*", "5" or "1-5", each with an optional step "/2". Returns what follows it, or
 * NULL. */
static const char *schedule_read_item(const char *s, const struct field *f, uint64_t *bits,
                                      bool *star)
{
    int64_t first = f->min, end = f->min + f->size - 1, last = end, step = 1;
    bool one = false;
    if (*s == '*') {
        *star = true;
        s++;
    } else {
        s = schedule_read_number(s, f->digits, f->min, f->max, &first);
        one = s && *s != '-';
        last = first;
        if (s && !one)
            s = schedule_read_number(s + 1, f->digits, f->min, f->max, &last);
    }
    if (s && *s == '/') {
        s = s[1] == '0' ? NULL : schedule_read_number(s + 1, 2, 1, 99, &step);
        if (one)
            last = end;
    }
    if (last < first)
        last += f->size;
    for (int64_t v = first; s && v <= last; v += step)
        *bits |= UINT64_C(1) << (f->min + (v - f->min) % f->size);
    return s;
}

bool schedule_parse(const char *text, struct schedule *ret)
{
    uint64_t bits[FIELDS] = { 0 };
    bool star[FIELDS] = { false };
    for (size_t i = 0; i < FIELDS; i++) {
        if (i > 0 && *text++ != ' ')
            return false;
        while ((text = schedule_read_item(text, &fields[i], &bits[i], &star[i])) && *text == ',')
            text++;
        if (!text)
            return false;
    }
    *ret = (struct schedule){
        .minutes = bits[MINUTE],
        .hours = (uint32_t) bits[HOUR],
        .days = (uint32_t) bits[DAY],
        .months = (uint16_t) bits[MONTH],
        .weekdays = (uint8_t) bits[WEEKDAY],
        .either_day = !star[DAY] && !star[WEEKDAY],
    };
    return *text == '\0';
}

static bool schedule_has(uint64_t bits, int value)
{
    return bits >> value & 1;
}

static int lowest(uint64_t bits)
{
    return __builtin_ctzll(bits);
}

static int highest(uint64_t bits)
{
    return 63 - __builtin_clzll(bits);
}

/* The bits of smaller values. */
static uint64_t below(uint64_t bits, int value)
{
    return bits & ((UINT64_C(1) << value) - 1);
}

bool schedule_fires(const struct schedule *s)
{
    if (s->either_day)
        return true;
    for (int month = 1; month <= 12; month++)
        /* a leap year */
        if (schedule_has(s->months, month) &&
            below(s->days, calendar_month_length(2000, month) + 1))
            return true;
    return false;
}

static bool fits_day(const struct schedule *s, struct date date, int64_t day)
{
    bool by_day = schedule_has(s->days, date.day);
    bool by_weekday = schedule_has(s->weekdays, calendar_weekday(day));
    return s->either_day ? by_day || by_weekday : by_day && by_weekday;
}

/* The first minute of a day at or after `from`; -1: none. */
static int next_of_day(const struct schedule *s, int from)
{
    int hour = from / 60, minute = from % 60;
    if (schedule_has(s->hours, hour) && s->minutes >> minute)
        return from + lowest(s->minutes >> minute);
    uint32_t later = s->hours >> (hour + 1);
    return later ? (hour + 1 + lowest(later)) * 60 + lowest(s->minutes) : -1;
}

/* The last minute of a day at or before `to`; -1: none. */
static int last_of_day(const struct schedule *s, int to)
{
    int hour = to / 60;
    uint64_t minutes = below(s->minutes, to % 60 + 1), earlier = below(s->hours, hour);
    if (schedule_has(s->hours, hour) && minutes)
        return hour * 60 + highest(minutes);
    return earlier ? highest(earlier) * 60 + highest(s->minutes) : -1;
}

int64_t schedule_next(const struct schedule *s, int64_t from, int64_t to)
{
    int64_t day = calendar_floor(from, CALENDAR_DAY_MINUTES);
    int minute = (int) (from - day * CALENDAR_DAY_MINUTES);
    for (int64_t days = 1; day * CALENDAR_DAY_MINUTES <= to; day += days, minute = 0) {
        struct date date = calendar_date(day);
        bool month = schedule_has(s->months, date.month);
        days = month ? 1 : calendar_month_length(date.year, date.month) - date.day + 1;
        int found = month && fits_day(s, date, day) ? next_of_day(s, minute) : -1;
        int64_t at = day * CALENDAR_DAY_MINUTES + found;
        if (found >= 0)
            return at <= to ? at : SCHEDULE_NONE;
    }
    return SCHEDULE_NONE;
}

int64_t schedule_last(const struct schedule *s, int64_t to, int64_t from)
{
    int64_t day = calendar_floor(to, CALENDAR_DAY_MINUTES);
    int minute = (int) (to - day * CALENDAR_DAY_MINUTES);
    for (int64_t days = 1; (day + 1) * CALENDAR_DAY_MINUTES > from;
         day -= days, minute = CALENDAR_DAY_MINUTES - 1) {
        struct date date = calendar_date(day);
        bool month = schedule_has(s->months, date.month);
        days = month ? 1 : date.day;
        int found = month && fits_day(s, date, day) ? last_of_day(s, minute) : -1;
        int64_t at = day * CALENDAR_DAY_MINUTES + found;
        if (found >= 0)
            return at >= from ? at : SCHEDULE_NONE;
    }
    return SCHEDULE_NONE;
}

int schedule_end_of_day(const struct schedule *s)
{
    return highest(s->hours) * 60 + highest(s->minutes);
}

bool schedule_is_daily(const struct schedule *s)
{
    bool days = s->days == 0xfffffffe, weekdays = s->weekdays == 0x7f;
    return s->months == 0x1ffe && (s->either_day ? days || weekdays : days && weekdays);
}

int schedule_night(const struct schedule *s)
{
    int first = lowest(s->hours) * 60 + lowest(s->minutes);
    return CALENDAR_DAY_MINUTES - schedule_end_of_day(s) + first;
}

/* The largest difference of two neighbours; 0 if there is only one. */
static int widest_gap(uint64_t bits)
{
    int widest = 0;
    for (uint64_t rest = bits; rest & (rest - 1);) {
        int first = lowest(rest);
        rest &= rest - 1;
        widest = lowest(rest) - first > widest ? lowest(rest) - first : widest;
    }
    return widest;
}

int schedule_widest_gap(const struct schedule *s)
{
    int within = widest_gap(s->minutes);
    int hours = widest_gap(s->hours);
    int between = hours * 60 - (highest(s->minutes) - lowest(s->minutes));
    return hours > 0 && between > within ? between : within;
}
