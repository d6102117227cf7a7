/* The transport over libcurl, driven from the loop, without threads of ours. Only http*.c know libcurl. */
#ifndef OSTLER_CLIENT_HTTP_H
#define OSTLER_CLIENT_HTTP_H

#include "base/clock.h"
#include "base/err.h"
#include "client/config.h"
#include "kube/transport.h"

struct http;

/* `config` is borrowed and re-read (token, CA) as config.h says. */
struct http *http_new(struct config *config, const struct clock *clock, struct err *e);
/* Who counts: called once for each request of any kind that was answered (status: HTTP, a watch's when it begins) or came to
 * nothing (0). */
struct http_answers {
    void (*fn)(void *arg, const char *method, int status); /* NULL: nobody */
    void *arg;
};
/* Sets who counts from now on. */
void http_on_answer(struct http *h, struct http_answers answers);
/* Ends every request without calling its sink. */
void http_free(struct http *h);
/* The seam. */
struct transport http_transport(struct http *h);
/* An epoll descriptor that becomes readable when there is something to do. */
int http_fd(const struct http *h);
/* When http_turn() must be called even without readiness: milliseconds of the clock, INT64_MAX for never. */
int64_t http_deadline(const struct http *h);
/* Does what is ready, without waiting; sinks are called from here. Bounded work per call, so that one flooding stream does not
 * starve the rest. */
void http_turn(struct http *h);
/* For who has no loop: waits until something can be done, at most until `until_ms` of the clock or until `also` (a descriptor;
 * -1: none) can be read, and does it. Whether `also` can be read. */
bool http_wait(struct http *h, int64_t until_ms, int also);

#endif
