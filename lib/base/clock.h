/* Time as a seam: everything that asks what time it is asks a clock, so that a test or a simulated world can say. */
#ifndef OSTLER_BASE_CLOCK_H
#define OSTLER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Length of RFC 3339 text with microseconds and its NUL. */
enum { CLOCK_TEXT_MAX = 32 };

struct clock {
    /* Milliseconds that only grow and count suspended time too (CLOCK_BOOTTIME), so that a paused process does not think
     * that its lease is fresh. */
    int64_t (*mono_ms)(void *self);
    /* Microseconds since 1970, UTC. For text that people read, never for deadlines. */
    int64_t (*wall_us)(void *self);
    void *self;
};

/* What the clock says now: milliseconds that only grow. */
int64_t clock_mono_ms(const struct clock *c);
/* The same: microseconds since 1970. */
int64_t clock_wall_us(const struct clock *c);
/* Whether a time lies further ahead than clocks of different machines differ, which is ten minutes: then it was written by one
 * that is wrong, or by somebody else. Seconds of one epoch. */
bool clock_is_ahead(int64_t time_s, int64_t now_s);
/* The machine's own clocks. */
struct clock clock_system(void);

/* "2026-11-20T10:00:00Z", as metav1.Time is written. */
void clock_rfc3339(int64_t wall_us, char out[static CLOCK_TEXT_MAX]);
/* "2026-11-20T10:00:00.123456Z", as metav1.MicroTime is written. */
void clock_rfc3339_micro(int64_t wall_us, char out[static CLOCK_TEXT_MAX]);
/* Microseconds since 1970 from RFC 3339 text in UTC ("Z"), with or without a fraction; -1 when it is something else
 * or earlier. */
int64_t clock_parse_rfc3339(const char *text);

#endif
