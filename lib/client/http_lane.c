#include "client/http_lane.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "client/limits.h"

/* libcurl fails here only for lack of memory, and its transfers would then never end. */
static void must(CURLMcode code)
{
    if (code == CURLM_OK)
        return;
    fprintf(stderr, "ostler: libcurl failed: %s; exiting, the state is in the API server\n",
            curl_multi_strerror(code));
    abort();
}

/* ---- libcurl's callbacks */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    (void) socket_arg;
    const struct lane_place *place = &((struct lane *) arg)->place;
    if (what == CURL_POLL_REMOVE) {
        (void) epoll_ctl(place->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    struct epoll_event ev = { .data.u64 = (uint64_t) place->id << 32 | (uint32_t) fd };
    ev.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    int rc = epoll_ctl(place->epoll_fd, EPOLL_CTL_MOD, fd, &ev);
    if (rc < 0 && errno == ENOENT)
        rc = epoll_ctl(place->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
    if (rc < 0)
        place->unwatched(easy, errno);
    /* After -1, libcurl would fail each transfer of the lane when it is next served. It would
     * accept no new ones until the last ends. Requests would hang, and libcurl 7.88 crashes on
     * transfers served in between. */
    return 0;
}

static int http_lane_on_timer(CURLM *multi, long timeout_ms, void *arg)
{
    (void) multi;
    struct lane *lane = arg;
    lane->timer_at = timeout_ms < 0 ? INT64_MAX : clock_mono_ms(lane->place.clock) + timeout_ms;
    return 0;
}

/* A socket that does not support an option (such as a UNIX socket) may still connect. */
static void detect_dead_peer(int fd)
{
    static const struct {
        int level;
        int option;
        int value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S },
        { IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S },
        { IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES },
        { IPPROTO_TCP, TCP_USER_TIMEOUT, TCP_UNACKED_MS },
        { IPPROTO_TCP, TCP_NODELAY, 1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        (void) setsockopt(fd, options[i].level, options[i].option, &options[i].value,
                          sizeof options[i].value);
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void) arg;
    (void) purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0)
        detect_dead_peer(fd);
    return fd;
}

/* ---- construction */

void lane_init(struct lane *lane, const struct lane_place *place)
{
    *lane = (struct lane){
        .place = *place, .multi = curl_multi_init(), .timer_at = INT64_MAX, .close_at = INT64_MAX
    };
    must(lane->multi ? CURLM_OK : CURLM_OUT_OF_MEMORY);
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, http_lane_on_timer);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long) CONNECTIONS_PER_LANE);
}

void lane_clear(struct lane *lane)
{
    curl_multi_cleanup(lane->multi);
}

/* ---- transfers */

void lane_add(struct lane *lane, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    lane->running++;
    lane->close_at = INT64_MAX;
    must(curl_multi_add_handle(lane->multi, easy));
}

void lane_remove(struct lane *lane, CURL *easy)
{
    curl_multi_remove_handle(lane->multi, easy);
    curl_easy_cleanup(easy);
    lane->running--;
    if (lane->running == 0)
        lane->close_at = clock_mono_ms(lane->place.clock) + IDLE_CLOSE_MS;
}

/* ---- events and deadlines */

uint32_t lane_of_event(const struct epoll_event *event)
{
    return (uint32_t) (event->data.u64 >> 32);
}

static int curl_events(uint32_t events)
{
    return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

void lane_serve(struct lane *lane, const struct epoll_event *event)
{
    int running;
    int fd = (int) (event->data.u64 & UINT32_MAX);
    must(curl_multi_socket_action(lane->multi, fd, curl_events(event->events), &running));
}

void lane_serve_due(struct lane *lane)
{
    int running;
    if (lane->timer_at > clock_mono_ms(lane->place.clock))
        return;
    lane->timer_at = INT64_MAX; /* libcurl's callback sets the next one */
    must(curl_multi_socket_action(lane->multi, CURL_SOCKET_TIMEOUT, 0, &running));
}

void lane_close_idle(struct lane *lane)
{
    if (lane->close_at > clock_mono_ms(lane->place.clock))
        return;
    const struct lane_place place = lane->place;
    lane_clear(lane);
    lane_init(lane, &place);
    malloc_trim(0); /* returns the freed memory to the system */
}

int64_t lane_deadline(const struct lane *lane)
{
    return lane->timer_at < lane->close_at ? lane->timer_at : lane->close_at;
}
