/* Probes as Kubernetes components answer them: a list of named checks, asked all at once (/readyz) or one by one
 * (/readyz/<check>), with ?verbose and ?exclude=<check>. Text in, text out: no sockets here. */
#ifndef OSTLER_SERVE_HEALTH_H
#define OSTLER_SERVE_HEALTH_H

#include <stddef.h>

struct buf;

/* One thing that must be well. */
struct health_check {
    const char *name; /* as in the path, static text */
    /* NULL when it is well, else one sentence that says what is wrong and what to do; owned by the caller. It must not block. */
    char *(*why_failed)(void *arg);
    void *arg;
};

/* One endpoint: its checks in the order in which they are shown. */
struct health {
    const char *name; /* "healthz": the last line of the answer names it */
    const struct health_check *checks;
    size_t count;
};

/* Answers a probe: `check` is the path behind the endpoint ("" asks all checks), `query` the query with its escapes undone.
 * Fills `out`, which is empty, and returns the HTTP status: 200, 404 (no such check) or 500 (a check failed; the text gives its
 * sentence). Without checks everything is well. */
int health_answer(const struct health *h, const char *check, const char *query, struct buf *out);

#endif
