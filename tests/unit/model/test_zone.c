/* Offsets as Python's zoneinfo gives them, on both sides of changes of the clocks; and what clocks
 * show once, twice or never. */
#include "reconcilers/model/zone.h"

#include <string.h>

#include "base/clock.h"
#include "reconcilers/model/policy_formats.h"
#include "reconcilers/model/zone_tables.h"
#include "tests/unit/support/suite.h"

static int64_t at(const char *text)
{
    int64_t us = clock_parse_rfc3339(text);
    assert_int_not_equal(us, -1);
    return us / 1000000;
}

static const struct zone *zone(const char *name)
{
    const struct zone *z = zone_find(name);
    assert_non_null(z);
    return z;
}

#define ROW(zone, at, minutes)                                                                     \
    {                                                                                              \
        zone " at " at, zone, at, minutes                                                          \
    }
static const struct offset_row {
    const char *name;
    const char *zone, *at;
    int32_t minutes; /* east of Greenwich */
} offset_rows[] = {
    ROW("America/New_York", "2026-03-08T06:59:59Z", -300),
    ROW("America/New_York", "2026-03-08T07:00:00Z", -240),
    ROW("America/New_York", "2026-11-01T05:59:59Z", -240),
    ROW("America/New_York", "2026-11-01T06:00:00Z", -300),
    ROW("America/New_York", "2037-03-08T06:59:59Z", -300),
    ROW("America/New_York", "2037-03-08T07:00:00Z", -240),
    ROW("America/New_York", "2037-11-01T05:59:59Z", -240),
    ROW("America/New_York", "2037-11-01T06:00:00Z", -300),
    ROW("Europe/Berlin", "2026-03-29T00:59:59Z", 60),
    ROW("Europe/Berlin", "2026-03-29T01:00:00Z", 120),
    ROW("Europe/Berlin", "2026-10-25T00:59:59Z", 120),
    ROW("Europe/Berlin", "2026-10-25T01:00:00Z", 60),
    ROW("Europe/Berlin", "2036-03-30T00:59:59Z", 60),
    ROW("Europe/Berlin", "2036-03-30T01:00:00Z", 120),
    ROW("Europe/Berlin", "2036-10-26T00:59:59Z", 120),
    ROW("Europe/Berlin", "2036-10-26T01:00:00Z", 60),
    ROW("Australia/Lord_Howe", "2026-04-04T14:59:59Z", 660),
    ROW("Australia/Lord_Howe", "2026-04-04T15:00:00Z", 630),
    ROW("Australia/Lord_Howe", "2026-10-03T15:29:59Z", 630),
    ROW("Australia/Lord_Howe", "2026-10-03T15:30:00Z", 660),
    ROW("Australia/Lord_Howe", "2037-04-04T14:59:59Z", 660),
    ROW("Australia/Lord_Howe", "2037-04-04T15:00:00Z", 630),
    ROW("Australia/Lord_Howe", "2037-10-03T15:29:59Z", 630),
    ROW("Australia/Lord_Howe", "2037-10-03T15:30:00Z", 660),
    ROW("Africa/Casablanca", "2026-02-15T01:59:59Z", 60),
    ROW("Africa/Casablanca", "2026-02-15T02:00:00Z", 0),
    ROW("Africa/Casablanca", "2026-03-22T01:59:59Z", 0),
    ROW("Africa/Casablanca", "2026-03-22T02:00:00Z", 60),
    ROW("Africa/Casablanca", "2025-02-23T01:59:59Z", 60),
    ROW("Africa/Casablanca", "2025-02-23T02:00:00Z", 0),
    ROW("Africa/Casablanca", "2025-04-06T01:59:59Z", 0),
    ROW("Africa/Casablanca", "2025-04-06T02:00:00Z", 60),
    ROW("Asia/Gaza", "2026-03-27T23:59:59Z", 120),
    ROW("Asia/Gaza", "2026-03-28T00:00:00Z", 180),
    ROW("Asia/Gaza", "2026-10-23T22:59:59Z", 180),
    ROW("Asia/Gaza", "2026-10-23T23:00:00Z", 120),
    ROW("America/Nuuk", "2026-03-29T00:59:59Z", -120),
    ROW("America/Nuuk", "2026-03-29T01:00:00Z", -60),
    ROW("America/Nuuk", "2026-10-25T00:59:59Z", -60),
    ROW("America/Nuuk", "2026-10-25T01:00:00Z", -120),
    ROW("Europe/Dublin", "2026-03-29T00:59:59Z", 0),
    ROW("Europe/Dublin", "2026-03-29T01:00:00Z", 60),
    ROW("Europe/Dublin", "2026-10-25T00:59:59Z", 60),
    ROW("Europe/Dublin", "2026-10-25T01:00:00Z", 0),
    ROW("Antarctica/Troll", "2037-03-29T00:59:59Z", 0),
    ROW("Antarctica/Troll", "2037-03-29T01:00:00Z", 120),
    ROW("Antarctica/Troll", "2037-10-25T00:59:59Z", 120),
    ROW("Antarctica/Troll", "2037-10-25T01:00:00Z", 0),
    ROW("Asia/Tokyo", "2026-01-01T00:00:00Z", 540),
    ROW("Asia/Tokyo", "2037-07-01T00:00:00Z", 540),
    ROW("America/Sao_Paulo", "2026-01-01T00:00:00Z", -180),
    ROW("America/Sao_Paulo", "2037-07-01T00:00:00Z", -180),
    ROW("Asia/Kolkata", "2026-01-01T00:00:00Z", 330),
    ROW("Asia/Kolkata", "2037-07-01T00:00:00Z", 330),
    ROW("Pacific/Apia", "2026-01-01T00:00:00Z", 780),
    ROW("Pacific/Apia", "2037-07-01T00:00:00Z", 780),
    ROW("UTC", "2026-01-01T00:00:00Z", 0),
    ROW("UTC", "2037-07-01T00:00:00Z", 0),
    ROW("Etc/GMT+5", "2026-01-01T00:00:00Z", -300),
    ROW("Etc/GMT+5", "2037-07-01T00:00:00Z", -300),
};

static void check_offset(void **state)
{
    const struct offset_row *row = *state;
    assert_int_equal(zone_offset(zone(row->zone), at(row->at)), row->minutes * 60);
}

static const struct local_row {
    const char *name;
    const char *zone, *shown, *is;
} local_rows[] = {
    { "an ordinary time", "America/New_York", "2026-07-01T12:00:00Z", "2026-07-01T16:00:00Z" },
    { "just before the gap", "Europe/Berlin", "2026-03-29T01:59:59Z", "2026-03-29T00:59:59Z" },
    { "at the start of the gap", "Europe/Berlin", "2026-03-29T02:00:00Z", "2026-03-29T01:00:00Z" },
    { "in the gap", "Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z" },
    { "right after the gap", "Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z" },
    { "the day after the gap", "Europe/Berlin", "2026-03-30T02:30:00Z", "2026-03-30T00:30:00Z" },
    { "just before the hour that comes twice", "Europe/Berlin", "2026-10-25T01:59:59Z",
      "2026-10-24T23:59:59Z" },
    { "at the start of the hour that comes twice", "Europe/Berlin", "2026-10-25T02:00:00Z",
      "2026-10-25T00:00:00Z" },
    { "in the hour that comes twice", "Europe/Berlin", "2026-10-25T02:30:00Z",
      "2026-10-25T00:30:00Z" },
    { "after the hour that comes twice", "Europe/Berlin", "2026-10-25T03:00:00Z",
      "2026-10-25T02:00:00Z" },
    { "a gap of half an hour", "Australia/Lord_Howe", "2026-10-04T02:15:00Z",
      "2026-10-03T15:30:00Z" },
    { "half an hour that comes twice", "Australia/Lord_Howe", "2026-04-05T01:45:00Z",
      "2026-04-04T14:45:00Z" },
    { "a gap in the west", "America/New_York", "2026-03-08T02:30:00Z", "2026-03-08T07:00:00Z" },
    { "an hour that comes twice in the west", "America/New_York", "2026-11-01T01:30:00Z",
      "2026-11-01T05:30:00Z" },
    { "a gap of two hours", "Antarctica/Troll", "2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z" },
    { "a zone without changes", "Asia/Kolkata", "2026-03-29T02:30:00Z", "2026-03-28T21:00:00Z" },
};

static void check_local(void **state)
{
    const struct local_row *row = *state;
    assert_int_equal(zone_to_utc(zone(row->zone), at(row->shown)), at(row->is));
}

static const struct name_row {
    const char *name;
    const char *same; /* as that zone; NULL: there is no such zone */
} name_rows[] = {
    { "Asia/Calcutta", "Asia/Kolkata" },
    { "US/Eastern", "America/New_York" },
    { "Zulu", "UTC" },
    { "Etc/UTC", "UTC" },
    { "America/Argentina/ComodRivadavia", "America/Argentina/Catamarca" },
    { "", NULL },
    { "utc", NULL },
    { "Asia", NULL },
    { "Asia/Tokyo/", NULL },
    { "Asia/Tokyo ", NULL },
    { "Mars/Olympus", NULL },
    { "Etc/GMT+13", NULL },
    { "Factory", NULL },
    { "localtime", NULL },
    { "EST5EDT4", NULL },
};

static void check_name(void **state)
{
    const struct name_row *row = *state;
    assert_ptr_equal(zone_find(row->name), row->same ? zone(row->same) : NULL);
}

/* Every name is found, and a policy can have it. */
static void check_all(void **state)
{
    (void) state;
    assert_in_range(zone_names_len, 500, 1000);
    for (size_t i = 0; i < zone_names_len; i++) {
        assert_ptr_equal(zone_find(zone_names[i].name), &zone_table[zone_names[i].zone]);
        assert_true(policy_format_matches(FORMAT_TIME_ZONE, zone_names[i].name));
        if (i > 0)
            assert_true(strcmp(zone_names[i - 1].name, zone_names[i].name) < 0);
    }
}

/* No zone is further than 14 hours from Greenwich, and none changes its clocks more than four times
 * a year. */
static void check_sane(void **state)
{
    (void) state;
    int64_t begin = at("2020-01-01T00:00:00Z"), end = at("2060-01-01T00:00:00Z");
    for (size_t i = 0; i < zone_names_len; i += 7) {
        const struct zone *z = &zone_table[zone_names[i].zone];
        int changes = 0;
        for (int64_t t = begin; t < end; t += 86400) {
            assert_in_range(zone_offset(z, t) + 86400, 86400 - 12 * 3600, 86400 + 14 * 3600);
            changes += zone_offset(z, t) != zone_offset(z, t + 86400);
        }
        assert_in_range(changes, 0, 4 * 40);
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_offset, offset_rows);
    SUITE_ROWS(&s, check_local, local_rows);
    SUITE_ROWS(&s, check_name, name_rows);
    suite_add(&s, "every name is found", check_all, NULL);
    suite_add(&s, "offsets stay within reason for forty years", check_sane, NULL);
    return suite_run(&s, "zone");
}
