/* What is known of the API server's clock from the Dates of its answers. */
#include "runtime/server_clock.h"

#include "base/str.h"
#include "tests/unit/support/suite.h"

/* Seconds of the server's clock when the monotonic one was at 0. */
enum { BASE_S = 1795168800 };

static const struct row {
    const char *name;
    struct {
        int64_t date_s, sent_ms, came_ms; /* the Date in seconds after BASE_S; -1: there was none */
    } answers[3];
    size_t count;
    int64_t own_ms; /* this machine's clock when the monotonic one was at 0, after BASE_S */
    int64_t want_ms;
} rows[] = {
    { .name = "without an answer the machine's clock counts",
      .own_ms = -300000,
      .want_ms = -300000 },
    { "without a Date the machine's clock counts", { { -1, 1000, 1100 } }, 1, -300000, -300000 },
    { "a clock that may be the server's is left as it is", { { 1, 1500, 1510 } }, 1, 400, 400 },
    { "a clock that is minutes behind is set forward, to no earlier than the server's",
      { { 1, 1500, 1510 } },
      1,
      -300000,
      500 },
    { "a clock that is minutes ahead is set back", { { 1, 1500, 1510 } }, 1, 300000, 500 },
    { "a clock that is two seconds behind is set forward", { { 1, 1500, 1510 } }, 1, -2000, 500 },
    { "a slow answer tells less", { { 5, 2000, 9000 } }, 1, -3500, -3500 },
    { "of many answers the quick one decides",
      { { 5, 2000, 9000 }, { 9, 9000, 9010 }, { 10, 10000, 20000 } },
      3,
      -3500,
      1000 },
    { "a server whose clock was set since",
      { { 1, 1500, 1510 }, { 3602, 2500, 2510 } },
      2,
      0,
      3600500 },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    struct server_clock s = { 0 };
    for (size_t i = 0; i < row->count; i++) {
        int64_t date_s = row->answers[i].date_s;
        server_clock_note(&s, date_s < 0 ? 0 : BASE_S + date_s, row->answers[i].sent_ms,
                          row->answers[i].came_ms);
    }
    int64_t base_us = BASE_S * INT64_C(1000000);
    assert_int_equal(server_clock_base_us(&s, base_us + row->own_ms * 1000),
                     base_us + row->want_ms * 1000);
}

int main(void)
{
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add(&s, rows[i].name, check_row, &rows[i]);
    return suite_run(&s, "server clock");
}
