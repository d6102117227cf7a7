/* The API server's clock, from its responses: each Date header names a second between the
 * request and the end of the response. Objects have creationTimestamps of that clock, and this
 * machine's clock may be wrong. */
#ifndef OSTLER_RUNTIME_SERVER_CLOCK_H
#define OSTLER_RUNTIME_SERVER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The server's time when the monotonic clock was at 0, in microseconds since 1970.
 * Zero-initialised = no response yet. */
struct server_clock {
    bool known;
    int64_t least_us, most_us;
};

/* Records a response: its Date (transport_result.date_s; 0: none, no effect), and the monotonic
 * times of request and end in milliseconds. `s` NULL: no effect. */
void server_clock_note(struct server_clock *s, int64_t date_s, int64_t sent_ms, int64_t came_ms);
/* The server's time when the monotonic clock was at 0. `own_us` is the same for this machine's
 * clock, and the result if both may be equal. Otherwise the latest possible time: a clock that
 * is behind takes old objects for new. */
int64_t server_clock_base_us(const struct server_clock *s, int64_t own_us);

#endif
