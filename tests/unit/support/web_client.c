#include "tests/unit/support/web_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/support/cmocka.h"

enum { WAIT_MS = 5000 };

int web_dial(const struct web_client *c)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t) c->port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *) &to, sizeof to), 0);
    return fd;
}

void web_say(int fd, const char *bytes)
{
    assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
}

void web_turns(const struct web_client *c, int count)
{
    for (int i = 0; i < count; i++)
        c->turn(c->arg);
}

bool web_read(const struct web_client *c, int fd, const char *end, struct buf *out)
{
    int64_t deadline = clock_now_ms() + WAIT_MS;
    while (clock_now_ms() < deadline) {
        char part[65536];
        ssize_t n = recv(fd, part, sizeof part, MSG_DONTWAIT);
        if (n > 0)
            assert_true(buf_add(out, part, (size_t) n));
        else if (n == 0 || errno != EAGAIN)
            return !end;
        else
            c->turn(c->arg);
        if (end && strstr(buf_text(out), end))
            return true;
    }
    return false;
}

void web_exchange(const struct web_client *c, const char *request, struct buf *out)
{
    int fd = web_dial(c);
    web_say(fd, request);
    if (!web_read(c, fd, NULL, out))
        fail_msg("no end of the answer to %s: %s", request, buf_text(out));
    close(fd);
}
