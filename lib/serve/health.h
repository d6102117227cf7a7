/* Health probes as in Kubernetes components: named checks, all together (/readyz) or one by one
 * (/readyz/NAME), with ?verbose and ?exclude=NAME. Text in, text out: no sockets here. */
#ifndef OSTLER_SERVE_HEALTH_H
#define OSTLER_SERVE_HEALTH_H

#include <stddef.h>

struct buf;

/* One check. */
struct health_check {
    const char *name; /* its name in the path, static text */
    /* NULL if healthy, otherwise one sentence that says what is wrong and what to do; owned by
     * the caller. Must not block. */
    char *(*why_failed)(void *arg);
    void *arg;
};

/* One endpoint and its checks in display order. */
struct health {
    const char *name; /* "healthz": shown in the last line of the response */
    const struct health_check *checks;
    size_t count;
};

/* Answers a probe. `check` is the path after the endpoint ("": all checks), `query` the
 * unescaped query. Fills `out`, which must be empty. Returns the HTTP status: 200, 404 (no such
 * check) or 500 (a check failed; the text has its sentence). Without checks: healthy. */
int health_answer(const struct health *h, const char *check, const char *query, struct buf *out);

#endif
