#include "reconcilers/model/zone.h"

#include <stdlib.h>
#include <string.h>

#include "reconcilers/model/calendar.h"
#include "reconcilers/model/zone_tables.h"

static int compare_names(const void *key, const void *row)
{
    const struct zone_name *n = row;
    return strcmp(key, n->name);
}

const struct zone *zone_find(const char *name)
{
    const struct zone_name *found = bsearch(name, zone_names, zone_names_len, sizeof *zone_names,
                                            compare_names);
    return found ? &zone_table[found->zone] : NULL;
}

/* The time of the switch in a year; `offset` is in force before it. */
static int64_t switch_time(const struct zone_switch *s, int64_t year, int32_t offset)
{
    int64_t first = calendar_day((struct date){ .year = year, .month = s->month, .day = 1 });
    int day = (s->weekday - calendar_weekday(first) + 7) % 7 + 7 * (s->week - 1);
    if (day >= calendar_month_length(year, s->month))
        day -= 7; /* there is no fifth week */
    return (first + day) * CALENDAR_DAY_S + s->second - offset;
}

static int32_t offset_by_rule(const struct zone *z, int64_t at_s)
{
    if (z->leave.month == 0)
        return z->offset;
    /* No zone switches around the turn of the year, so the year in any zone will do. */
    int64_t year = calendar_year(calendar_floor(at_s, CALENDAR_DAY_S));
    int64_t leave = switch_time(&z->leave, year, z->offset);
    int64_t back = switch_time(&z->back, year, z->other_offset);
    bool other = leave < back ? at_s >= leave && at_s < back : at_s >= leave || at_s < back;
    return other ? z->other_offset : z->offset;
}

int32_t zone_offset(const struct zone *z, int64_t at_s)
{
    const struct zone_change *changes = &zone_changes[z->first_change];
    for (size_t i = 0; i < z->changes; i++)
        if (at_s < changes[i].until_s)
            return changes[i].offset;
    return offset_by_rule(z, at_s);
}

bool zone_is_fixed(const struct zone *z)
{
    return z->changes == 0 && z->leave.month == 0;
}

/* The moment in (from, to] when the offset becomes that of `to`. */
static int64_t change_between(const struct zone *z, int64_t from_s, int64_t to_s)
{
    int32_t after = zone_offset(z, to_s);
    while (to_s - from_s > 1) {
        int64_t middle = from_s + (to_s - from_s) / 2;
        if (zone_offset(z, middle) == after)
            to_s = middle;
        else
            from_s = middle;
    }
    return to_s;
}

int64_t zone_to_utc(const struct zone *z, int64_t local_s)
{
    int32_t before = zone_offset(z, local_s - CALENDAR_DAY_S);
    int64_t early = local_s - before;
    int32_t after = zone_offset(z, early);
    if (after == before)
        return early;
    int64_t late = local_s - after;
    return zone_offset(z, late) == after ? late : change_between(z, late, early);
}
