#include "runtime/server_clock.h"

void server_clock_note(struct server_clock *s, int64_t date_s, int64_t sent_ms, int64_t came_ms)
{
    if (!s || date_s <= 0)
        return;
    struct server_clock now = { true, date_s * 1000000 - came_ms * 1000,
                                (date_s + 1) * 1000000 - sent_ms * 1000 };
    /* If the server's clock was set, earlier responses contradict this one. */
    bool agrees = s->known && now.least_us <= s->most_us && now.most_us >= s->least_us;
    if (agrees && s->least_us > now.least_us)
        now.least_us = s->least_us;
    if (agrees && s->most_us < now.most_us)
        now.most_us = s->most_us;
    *s = now;
}

int64_t server_clock_base_us(const struct server_clock *s, int64_t own_us)
{
    bool may_be_equal = !s->known || (own_us >= s->least_us && own_us <= s->most_us);
    return may_be_equal ? own_us : s->most_us;
}
