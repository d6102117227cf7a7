/* What time it is for Ostler when the clock of its machine is not the API server's, or is set. */
#include "base/log.h"
#include "base/str.h"
#include "reconcilers/cluster.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"

enum { SERVER_S = 1795168800, MINUTE_S = 60, LATER_MS = 1000 * 1000 };

/* A machine's clock, beside a monotonic one. */
struct machine {
    int64_t mono_ms, wall_us;
};

static int64_t mono_ms(void *self)
{
    return ((struct machine *) self)->mono_ms;
}

static int64_t wall_us(void *self)
{
    return ((struct machine *) self)->wall_us;
}

/* Seconds by which the machine's clock is ahead of the API server's at the start, and by which it
 * is set some time after. */
static const struct row {
    const char *name;
    bool without_date;
    int64_t ahead_s, set_s;
    /* what Ostler takes for the time then, after the API server's */
    int64_t want_now_s, want_wall_s;
} rows[] = {
    { .name = "a clock that is right" },
    { .name = "behind: the API server's time counts", .ahead_s = -5 * MINUTE_S },
    { .name = "ahead: the API server's time counts", .ahead_s = 5 * MINUTE_S },
    { .name = "behind, and the server names no time",
      .without_date = true,
      .ahead_s = -5 * MINUTE_S,
      .want_now_s = -5 * MINUTE_S,
      .want_wall_s = -5 * MINUTE_S },
    { .name = "behind, and then set right", .ahead_s = -5 * MINUTE_S, .set_s = 5 * MINUTE_S },
    { .name = "ahead, and then set right", .ahead_s = 5 * MINUTE_S, .set_s = -5 * MINUTE_S },
    { .name = "right, and then set forward: what is shown follows",
      .set_s = 3600,
      .want_wall_s = 3600 },
    { .name = "right, and then set back: what is shown follows",
      .set_s = -3600,
      .want_wall_s = -3600 },
    { .name = "behind, and set forward by more",
      .ahead_s = -5 * MINUTE_S,
      .set_s = 65 * MINUTE_S,
      .want_wall_s = 3600 },
    { .name = "behind, and set back as well",
      .ahead_s = -5 * MINUTE_S,
      .set_s = -3600,
      .want_wall_s = -3600 },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    log_setup(LOG_SILENT, false);
    struct machine m = { 100 * 1000, (SERVER_S + row->ahead_s) * INT64_C(1000000) };
    struct clock clock = { mono_ms, wall_us, &m };
    struct cluster c;
    cluster_init(&c, &(struct cluster_options){ .operand_namespace = "operands",
                                                .clock = &clock,
                                                .listener = quiet_listener });
    server_clock_note(&c.server_clock, row->without_date ? 0 : SERVER_S, m.mono_ms - 1000,
                      m.mono_ms);
    cluster_begin(&c);
    m.mono_ms += LATER_MS;
    m.wall_us += LATER_MS * 1000 + row->set_s * 1000000;
    int64_t server_s = SERVER_S + LATER_MS / 1000;
    /* The Date of an answer is a second, and its request took another one. */
    assert_in_range(cluster_now_s(&c) - server_s - row->want_now_s + 1, 0, 3);
    assert_in_range(cluster_wall_us(&c) / 1000000 - server_s - row->want_wall_s + 1, 0, 3);
    cluster_clear(&c);
}

int main(void)
{
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add(&s, rows[i].name, check_row, &rows[i]);
    return suite_run(&s, "cluster time");
}
