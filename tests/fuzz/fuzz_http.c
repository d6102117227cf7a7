/* Any bytes as the answer of a server: no crash, the sink hears of the end exactly once, and
 * nothing after it. The lowest bit of the first byte says whether it was a watch that was asked
 * for; the rest is sent over loopback. */
#include <assert.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TIMEOUT_MS = 1000 };

struct outcome {
    int status_calls;
    int done;
    size_t bytes;
};

static void on_status(void *arg, int status)
{
    struct outcome *o = arg;
    assert(!o->done && o->status_calls++ == 0 && status >= 200);
}

static int on_bytes(void *arg, const char *bytes, size_t n)
{
    struct outcome *o = arg;
    assert(!o->done && bytes);
    o->bytes += n;
    return 0;
}

static void on_done(void *arg, const struct transport_result *result)
{
    struct outcome *o = arg;
    assert(o->done++ == 0);
    assert(result->retry_after_ms >= -1);
    assert(result->err.kind == ERR_NONE ? result->status >= 200 : *err_msg(&result->err) != '\0');
}

static int listen_on_loopback(int *ret_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = bind(fd, (struct sockaddr *) &address, len) || listen(fd, 8) ||
             getsockname(fd, (struct sockaddr *) &address, &len);
    assert(rc == 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static void answer(int fd, const uint8_t *data, size_t size)
{
    char request[4096];
    ssize_t n = recv(fd, request, sizeof request, 0); /* else closing would reset the connection */
    if (n > 0)
        n = send(fd, data, size, MSG_NOSIGNAL);
    (void) n;
    close(fd);
}

static void exchange(struct http *h, int listener, const struct outcome *o, const uint8_t *data,
                     size_t size)
{
    int connection = -1;
    while (!o->done) {
        struct pollfd fds[] = { { .fd = http_fd(h), .events = POLLIN },
                                { .fd = listener, .events = POLLIN },
                                { .fd = connection, .events = POLLIN } };
        poll(fds, 3, 1);
        if (fds[1].revents)
            connection = accept(listener, NULL, NULL);
        if (fds[2].revents) {
            answer(connection, data, size);
            connection = -1;
        }
        http_turn(h);
    }
    if (connection >= 0)
        close(connection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct http *h;
    static struct config config;
    static struct clock clock;
    static int listener;
    if (!h) {
        int port;
        listener = listen_on_loopback(&port);
        clock = clock_system();
        config = (struct config){ .description = xstrdup("a test"), .compression = true };
        CLEANUP_FREE char *url = xasprintf("http://127.0.0.1:%d", port);
        int rc = endpoint_parse(url, &config.server, NULL);
        h = http_new(&config, &clock, NULL);
        assert(rc == 0 && h);
    }
    if (size == 0)
        return 0;
    struct request r = { .class = data[0] & 1 ? REQUEST_WATCH : REQUEST_READ,
                         .method = "GET",
                         .path = xstrdup("/x"),
                         .timeout_ms = TIMEOUT_MS };
    struct outcome o = { 0 };
    struct transport t = http_transport(h);
    const struct transport_sink sink = { on_status, on_bytes, on_done, &o };
    transport_submit(&t, &r, &sink);
    exchange(h, listener, &o, data + 1, size - 1);
    return 0;
}
