/* The API server's clock, as far as its answers tell: each answer names the second in which it was given (Date), which lies
 * between the request and its end. creationTimestamps are times of that clock, and the clock of this machine may be wrong. */
#ifndef OSTLER_RUNTIME_SERVER_CLOCK_H
#define OSTLER_RUNTIME_SERVER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised = no answer has come. What that clock shows when the monotonic one is at 0, microseconds since 1970. */
struct server_clock {
    bool known;
    int64_t least_us, most_us;
};

/* Takes note of an answer: its Date (transport_result.date_s; 0: none, and nothing is noted), and when by the monotonic clock its
 * request was sent and its end came, in milliseconds. `s` NULL: nothing is. */
void server_clock_note(struct server_clock *s, int64_t date_s, int64_t sent_ms, int64_t came_ms);
/* What the server's clock showed when the monotonic one was at 0; `own_us` is the same of this machine's clock, and is returned
 * where the two may be equal. Else the latest time that may be: a clock that is behind takes what is old for new. */
int64_t server_clock_base_us(const struct server_clock *s, int64_t own_us);

#endif
