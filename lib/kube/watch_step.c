#include "kube/watch_step.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* client-go's reflector: 800 ms, doubled up to 30 s, times a random factor of 1 to 2, reset
     * after 2 minutes. */
    BACKOFF_FIRST_MS = 800,
    BACKOFF_MAX_MS = 30 * 1000,
    BACKOFF_FORGET_MS = 2 * 60 * 1000,
    /* Asking an unreachable server costs nothing, and users wait for its return: at most 2 s,
     * plus jitter. */
    BACKOFF_UNREACHABLE_MAX_MS = 2 * 1000,
    /* The same for a CustomResourceDefinition that may be installed soon. */
    BACKOFF_ABSENT_MAX_MS = 4 * 1000,
    /* A stream that ends at once without data is a failure, not the end of a watch. */
    STREAM_SHORT_MS = 1000,
    STREAM_MIN_S = 300,
    STREAM_SPREAD_S = 300,
};

static struct watch_next list(struct watch_state *s)
{
    s->phase = WATCH_LISTING;
    return (struct watch_next){ .what = WATCH_DO_LIST };
}

static struct watch_next stream(struct watch_state *s, const struct watch_input *in)
{
    s->phase = WATCH_STREAMING;
    s->opened_ms = in->now_ms;
    s->heard = false;
    return (struct watch_next){ .what = WATCH_DO_STREAM,
                                .timeout_s = STREAM_MIN_S + (int) (in->random % STREAM_SPREAD_S) };
}

static struct watch_next resume(struct watch_state *s, const struct watch_input *in)
{
    return *s->rv ? stream(s, in) : list(s);
}

/* Never truncates a version: the result would be another version. */
static void watch_step_remember(struct watch_state *s, const char *rv)
{
    size_t n = rv ? strlen(rv) : 0;
    if (n > 0 && n < sizeof s->rv)
        memcpy(s->rv, rv, n + 1);
}

static void forget_version(struct watch_state *s)
{
    s->rv[0] = '\0';
    free(TAKE(s->token));
}

/* Whether the last failure was of this kind and recent. */
static bool failed_lately(const struct watch_state *s, const struct watch_input *in,
                          enum err_kind error)
{
    return s->last_error == error && in->now_ms - s->last_failure_ms <= BACKOFF_FORGET_MS;
}

static struct watch_next wait_before_retry(struct watch_state *s, const struct watch_input *in,
                                           enum err_kind error)
{
    if (!failed_lately(s, in, error))
        s->failures = 0;
    s->last_error = error;
    s->last_failure_ms = in->now_ms;
    int64_t max = error == ERR_UNREACHABLE ? BACKOFF_UNREACHABLE_MAX_MS
                  : error == ERR_NOT_FOUND ? BACKOFF_ABSENT_MAX_MS
                                           : BACKOFF_MAX_MS;
    int64_t delay = BACKOFF_FIRST_MS;
    for (int i = 0; i < s->failures && delay < max; i++)
        delay *= 2;
    s->failures++;
    if (delay > max)
        delay = max;
    delay += delay * (in->random % 1000) / 1000;
    if (in->retry_after_ms > delay)
        delay = in->retry_after_ms;
    s->phase = WATCH_WAITING;
    return (struct watch_next){ .what = WATCH_DO_WAIT, .delay_ms = delay };
}

static struct watch_next take_page(struct watch_state *s, const struct watch_input *in)
{
    xstrset(&s->token, in->token && *in->token ? in->token : NULL);
    if (s->token)
        return list(s);
    watch_step_remember(s, in->rv);
    if (!*s->rv)
        return wait_before_retry(s, in, ERR_INVALID);
    s->synced = true;
    struct watch_next next = stream(s, in);
    next.list_complete = true;
    return next;
}

static struct watch_next watch_step_take_failure(struct watch_state *s,
                                                 const struct watch_input *in)
{
    bool streaming = s->phase == WATCH_STREAMING;
    if (in->error == ERR_GONE) {
        forget_version(s);
        /* A stream's version expires normally: list at once. A list that is gone is retried with
         * backoff. */
        if (streaming && !failed_lately(s, in, ERR_GONE)) {
            s->last_error = ERR_GONE;
            s->last_failure_ms = in->now_ms;
            s->failures = 0;
            return list(s);
        }
    } else if (!streaming || in->error == ERR_INVALID || (in->error == ERR_TIMEOUT && !s->heard)) {
        /* A broken list starts again: pages of two lists must not mix. Do not use the version of
         * an invalid or silent stream again, since it may be the cause. After a restore of etcd,
         * the server waits silently for a version that may be days ahead. */
        forget_version(s);
    }
    return wait_before_retry(s, in, in->error);
}

static struct watch_next take_close(struct watch_state *s, const struct watch_input *in)
{
    if (!s->heard && in->now_ms - s->opened_ms < STREAM_SHORT_MS)
        return wait_before_retry(s, in, ERR_SERVER);
    return stream(s, in);
}

struct watch_next watch_step(struct watch_state *s, const struct watch_input *in)
{
    switch (in->event) {
    case WATCH_STARTED:
        return list(s);
    case WATCH_PAGE:
        return take_page(s, in);
    case WATCH_SEEN:
        s->heard = true;
        s->failures = 0;
        watch_step_remember(s, in->rv);
        break;
    case WATCH_CLOSED:
        return take_close(s, in);
    case WATCH_FAILED:
        return watch_step_take_failure(s, in);
    case WATCH_AGAIN:
        forget_version(s);
        s->synced = false;
        return list(s);
    case WATCH_DELAY_OVER:
        return resume(s, in);
    }
    return (struct watch_next){ .what = WATCH_DO_NOTHING };
}

void watch_state_clear(struct watch_state *s)
{
    free(s->token);
    *s = (struct watch_state){ 0 };
}
