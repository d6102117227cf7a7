/* A lane: requests that use each other's connections, one after the other, since HTTP/1.1 has one request at a time on each. Also
 * libcurl's view of the loop: its sockets are on an epoll descriptor, its timer is a deadline. */
#ifndef OSTLER_CLIENT_HTTP_LANE_H
#define OSTLER_CLIENT_HTTP_LANE_H

#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "client/sockets.h"

/* What a lane is made with; pointers are borrowed. */
struct lane_place {
    uint32_t id;
    int epoll_fd;
    const struct clock *clock;
    /* Called from inside libcurl when the kernel does not watch the transfer's socket: nothing will be heard of it any more, so
     * it has to be ended. */
    void (*unwatched)(CURL *easy, int os_errno);
};

struct lane {
    struct lane_place place;
    CURLM *multi;
    struct sockets sockets;
    int64_t timer_at; /* when libcurl wants to be called; INT64_MAX: not by time */
    int64_t close_at; /* when its connections are closed; INT64_MAX: it is in use, or has none */
    size_t running;
};

/* A lane without connections; the place is copied. */
void lane_init(struct lane *lane, const struct lane_place *place);
/* Closes its connections and frees what it owns; all transfers must have been removed. */
void lane_clear(struct lane *lane);
/* Starts a transfer; not from inside libcurl's callbacks. */
void lane_add(struct lane *lane, CURL *easy);
/* Ends it, if it has not ended, and frees the handle; not from inside libcurl's callbacks. */
void lane_remove(struct lane *lane, CURL *easy);
/* The lane's id of an event of the epoll descriptor. */
uint32_t lane_of_event(const struct epoll_event *event);
/* Serves the socket of an event. */
void lane_serve(struct lane *lane, const struct epoll_event *event);
/* Serves what is due by time. */
void lane_serve_due(struct lane *lane);
/* Closes the connections when nothing has run for so long that they are not worth keeping. */
void lane_close_idle(struct lane *lane);
/* When one of the two has something to do; INT64_MAX: not by time. */
int64_t lane_deadline(const struct lane *lane);

#endif
