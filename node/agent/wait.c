#include "node/agent/wait.h"

#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/str.h"
#include "node/agent/wakes.h"

/* sysfs sends no notifications, and the kernel's messages may not reach this container. */
enum { LOOK_MS = 2000 };

/* Waits for a hint, a signal or the next check; true for a signal. The first process of a container
 * receives only signals that it handles. */
static bool sleep_until_news(struct wakes *w, int signals, int64_t ms)
{
    struct pollfd ready[] = { { .fd = signals, .events = POLLIN },
                              { .fd = w->files, .events = POLLIN },
                              { .fd = w->uevents, .events = POLLIN } };
    poll(ready, ARRAY_LEN(ready), (int) ms);
    wakes_take(w);
    return ready[0].revents != 0;
}

/* Prints what is missing if that has changed. */
static void wait_log(const char *missing, const char **told)
{
    if (missing != *told && missing)
        fprintf(stderr, "waiting: %s\n", missing);
    *told = missing;
}

static int wait_with(struct wakes *w, int signals, const struct root *root,
                     const struct ready_target *wish, int64_t timeout_ms, struct err *e)
{
    int64_t end_ms = timeout_ms ? clock_now_ms() + timeout_ms : INT64_MAX;
    const char *missing, *told = NULL;
    while ((wakes_watch(w, root), missing = ready_file_missing(root, wish))) {
        int64_t left_ms = end_ms - clock_now_ms();
        wait_log(missing, &told);
        if (left_ms <= 0)
            return err_set(e, ERR_TIMEOUT, "timed out: %s", missing);
        if (sleep_until_news(w, signals, left_ms < LOOK_MS ? left_ms : LOOK_MS))
            return err_set(e, ERR_TIMEOUT, "stopped by a signal: %s", missing);
    }
    return 0;
}

int wait_for(const struct root *root, const struct ready_target *wish, int64_t timeout_ms,
             struct err *e)
{
    struct wakes w;
    CLEANUP_FD int signals = signals_open(0, e);
    if (signals < 0)
        return -1;
    wakes_open(&w);
    int rc = wait_with(&w, signals, root, wish, timeout_ms, e);
    wakes_close(&w);
    return rc;
}
