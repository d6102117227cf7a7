/* Time as a seam: all code asks a clock for the time, so that a test or the simulator can supply
 * it. */
#ifndef OSTLER_BASE_CLOCK_H
#define OSTLER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Length of RFC 3339 text with microseconds and its NUL. */
enum { CLOCK_TEXT_MAX = 32 };

struct clock {
    /* Monotonic milliseconds. They include suspended time (CLOCK_BOOTTIME), so that a process
     * that was paused does not think that its lease is fresh. */
    int64_t (*mono_ms)(void *self);
    /* Microseconds since 1970, UTC. For text that users read, never for deadlines. */
    int64_t (*wall_us)(void *self);
    void *self;
};

/* The monotonic time of a clock, in milliseconds. */
int64_t clock_mono_ms(const struct clock *c);
/* The wall time of a clock, in microseconds since 1970. */
int64_t clock_wall_us(const struct clock *c);
/* Whether a time is more than ten minutes ahead, beyond the usual difference between machines.
 * Then a wrong clock or another program wrote it. Both are seconds since 1970. */
bool clock_is_ahead(int64_t time_s, int64_t now_s);
/* The machine's own monotonic time, in milliseconds: for waits that no test controls. */
int64_t clock_now_ms(void);
/* The machine's own clocks. */
struct clock clock_system(void);

/* "2026-11-20T10:00:00Z", the format of metav1.Time. */
void clock_rfc3339(int64_t wall_us, char out[static CLOCK_TEXT_MAX]);
/* "2026-11-20T10:00:00.123456Z", the format of metav1.MicroTime. */
void clock_rfc3339_micro(int64_t wall_us, char out[static CLOCK_TEXT_MAX]);
/* Parses RFC 3339 text in UTC ("Z"), with or without a fraction, to microseconds since 1970. -1
 * if the text is something else or earlier. */
int64_t clock_parse_rfc3339(const char *text);
/* The same of a text exactly as clock_rfc3339() writes it. */
int64_t clock_parse_written(const char *text);

#endif
