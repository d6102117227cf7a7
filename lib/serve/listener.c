#include "serve/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/listen.h"

enum { PART_MAX = 16384 }; /* bytes of a response per write */

/* In libwebsockets' memory per descriptor. */
struct source {
    void (*on_readable)(void *arg);
    void *arg;
};

static int on_source(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len)
{
    (void) wsi, (void) in, (void) len;
    const struct source *source = user;
    if (reason == LWS_CALLBACK_RAW_RX_FILE)
        source->on_readable(source->arg);
    return 0;
}

static const struct lws_protocols source_protocol = {
    .name = "source", .callback = on_source, .per_session_data_size = sizeof(struct source)
};

struct lws *listener_watch(struct listener *l, int fd, void (*on_readable)(void *arg), void *arg)
{
    lws_sock_file_fd_type d = { .filefd = fd };
    struct lws *wsi = lws_adopt_descriptor_vhost(l->vhost, LWS_ADOPT_RAW_FILE_DESC, d,
                                                 source_protocol.name, NULL);
    if (wsi)
        *(struct source *) lws_wsi_user(wsi) = (struct source){ on_readable, arg };
    return wsi;
}

/* At level debug: most messages are clients' mistakes, which must not flood the log. */
static void on_library_log(int level, const char *line)
{
    (void) level;
    CLEANUP_FREE char *text = xstrndup(line, strcspn(line, "\n"));
    log_debug("libwebsockets", "line", text);
}

static void make_context(struct listener *l, const struct listener_options *o)
{
    struct lws_context_creation_info info = o->info;
    l->protocols[0] = o->clients;
    l->protocols[1] = source_protocol;
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.vhost_name = o->beside ? o->clients.name : "default";
    info.protocols = l->protocols;
    info.gid = (gid_t) -1;
    info.uid = (uid_t) -1;
    l->beside = o->beside != NULL;
    if (o->beside) {
        l->context = o->beside->context;
        l->vhost = lws_create_vhost(l->context, &info);
        return;
    }
    lws_set_log_level(LLL_ERR | LLL_WARN, on_library_log);
    l->context = lws_create_context(&info);
    l->vhost = l->context ? lws_get_vhost_by_name(l->context, info.vhost_name) : NULL;
}

static void on_timer(void *arg)
{
    struct listener *l = arg;
    uint64_t expirations;
    if (read(l->timer_fd, &expirations, sizeof expirations) < 0)
        return; /* set again meanwhile */
    l->timer_set = false;
}

static int watch_own(struct listener *l, const struct listener_options *o)
{
    if (l->timer_fd >= 0 && !listener_watch(l, l->timer_fd, on_timer, l))
        return -1;
    if (l->fd < 0)
        return 0;
    l->socket = listener_watch(l, l->fd, o->on_connections, o->info.user);
    return l->socket ? 0 : -1;
}

int listener_open(struct listener *l, const struct listener_options *o, struct err *e)
{
    l->fd = *o->address ? listen_on(o->address, o->option, e) : -1;
    if (*o->address && l->fd < 0)
        return -1;
    l->port = listen_port(l->fd);
    l->timer_fd = o->beside ? -1 : timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    make_context(l, o);
    if ((!o->beside && l->timer_fd < 0) || !l->vhost) {
        if (l->fd >= 0)
            close(l->fd);
        if (l->timer_fd >= 0)
            close(l->timer_fd);
        return err_set(e, ERR_SYSTEM, "%s cannot start: %s", o->server, o->causes);
    }
    if (watch_own(l, o) < 0)
        return err_set(e, ERR_SYSTEM, "%s cannot watch its own sockets", o->server);
    return 0;
}

int listener_accept(const struct listener *l)
{
    const int on = 1;
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    /* A response may be two writes: the second must not wait for the first one's
     * acknowledgement. */
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* libwebsockets keeps what the socket does not accept, and sends it before it reports writable
 * again or closes. */
int listener_write(struct lws *wsi, const char *bytes, size_t len, enum lws_write_protocol how)
{
    unsigned char part[LWS_PRE + PART_MAX];
    size_t n = len < PART_MAX ? len : PART_MAX;
    memcpy(part + LWS_PRE, bytes, n);
    return lws_write(wsi, part + LWS_PRE, n, how) < 0 ? -1 : (int) n;
}

/* libwebsockets 4 ignores the timeout of lws_service(), and rounds its own timers down to whole
 * milliseconds, so that it spins through the last one. So a timer descriptor limits the wait. */
static int set_timer(struct listener *l, int64_t timeout_ms)
{
    if (timeout_ms <= 0 && !l->timer_set)
        return 0;
    struct itimerspec when = { 0 };
    if (timeout_ms > 0)
        when.it_value = (struct timespec){ .tv_sec = timeout_ms / 1000,
                                           .tv_nsec = timeout_ms % 1000 * 1000000L };
    if (timerfd_settime(l->timer_fd, 0, &when, NULL) < 0)
        return -1;
    l->timer_set = timeout_ms > 0;
    return 0;
}

int listener_run_once(struct listener *l, int64_t timeout_ms)
{
    if (set_timer(l, timeout_ms) < 0)
        return -1;
    /* Any non-negative number waits for the next descriptor. */
    return lws_service(l->context, timeout_ms == 0 ? -1 : 0) < 0 ? -1 : 0;
}

void listener_close(struct listener *l)
{
    if (l->context && !l->beside)
        lws_context_destroy(l->context);
}
