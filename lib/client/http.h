/* The transport over libcurl: the loop drives it, without threads of ours. Only http*.c know
 * libcurl. */
#ifndef OSTLER_CLIENT_HTTP_H
#define OSTLER_CLIENT_HTTP_H

#include "base/clock.h"
#include "base/err.h"
#include "client/config.h"
#include "kube/transport.h"

struct http;

/* Borrows `config` and refreshes it (token, CA) as config.h says. */
struct http *http_new(struct config *config, const struct clock *clock, struct err *e);
/* A counter of responses, called once per request. It gets the HTTP status (for a watch, when it
 * begins) or 0 on failure. */
struct http_answers {
    void (*fn)(void *arg, const char *method, int status); /* NULL: no counter */
    void *arg;
};
/* Sets the counter from now on. */
void http_on_answer(struct http *h, struct http_answers answers);
/* Cancels every request without calling its sink. */
void http_free(struct http *h);
/* The client as a transport (kube/transport.h). */
struct transport http_transport(struct http *h);
/* An epoll descriptor that is readable when there is work. */
int http_fd(const struct http *h);
/* When to call http_turn() even if nothing is readable: milliseconds of the clock, INT64_MAX for
 * never. */
int64_t http_deadline(const struct http *h);
/* Does all ready work without waiting, and calls sinks. Work per call is bounded, so that one
 * flooding stream does not starve the rest. */
void http_turn(struct http *h);
/* For programs without a loop: waits for work and does it. It waits at most until `until_ms` of
 * the clock, or until `also` (a descriptor; -1: none) is readable. Returns whether `also` is
 * readable. */
bool http_wait(struct http *h, int64_t until_ms, int also);

#endif
