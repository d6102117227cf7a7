/* A lane: requests that share connections one after another, since an HTTP/1.1 connection
 * carries one request at a time. It also adapts libcurl to the loop: libcurl's sockets are in an
 * epoll descriptor, its timer is a deadline. */
#ifndef OSTLER_CLIENT_HTTP_LANE_H
#define OSTLER_CLIENT_HTTP_LANE_H

#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/clock.h"

/* The parameters of a lane; pointers are borrowed. */
struct lane_place {
    uint32_t id;
    int epoll_fd;
    const struct clock *clock;
    /* Called inside libcurl if the kernel cannot watch the transfer's socket: no event will
     * arrive, so the transfer must end. */
    void (*unwatched)(CURL *easy, int os_errno);
};

struct lane {
    struct lane_place place;
    CURLM *multi;
    int64_t timer_at; /* when libcurl needs a call; INT64_MAX: never */
    int64_t close_at; /* when to close connections; INT64_MAX: in use, or none */
    size_t running;
};

/* Makes a lane without connections; copies the place. */
void lane_init(struct lane *lane, const struct lane_place *place);
/* Closes its connections and frees its memory; remove all transfers first. */
void lane_clear(struct lane *lane);
/* Starts a transfer; never call it from libcurl's callbacks. */
void lane_add(struct lane *lane, CURL *easy);
/* Ends a transfer that runs and frees its handle; never call it from libcurl's callbacks. */
void lane_remove(struct lane *lane, CURL *easy);
/* The lane id in an event of the epoll descriptor. */
uint32_t lane_of_event(const struct epoll_event *event);
/* Handles an event of a socket. */
void lane_serve(struct lane *lane, const struct epoll_event *event);
/* Runs libcurl if its timer is due. */
void lane_serve_due(struct lane *lane);
/* Closes the connections if the lane was idle for IDLE_CLOSE_MS. */
void lane_close_idle(struct lane *lane);
/* The earlier of both deadlines; INT64_MAX: none. */
int64_t lane_deadline(const struct lane *lane);

#endif
