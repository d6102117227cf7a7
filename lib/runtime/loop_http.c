#include "runtime/loop_http.h"

static void on_http(void *arg)
{
    const struct loop_http *lh = arg;
    http_turn(lh->http);
}

/* Runs at the end of each turn. */
static void set_due(void *arg)
{
    struct loop_http *lh = arg;
    int64_t at = http_deadline(lh->http);
    if (at == INT64_MAX)
        loop_timer_cancel(lh->loop, &lh->due);
    else
        loop_timer_set(lh->loop, &lh->due, at);
}

void loop_http_add(struct loop_http *lh, struct loop *loop, struct http *http)
{
    *lh = (struct loop_http){ .loop = loop, .http = http, .due = { .fn = on_http, .arg = lh } };
    loop_add_fd(loop, http_fd(http), on_http, lh);
    loop_on_turn(loop, set_due, lh);
}
