#include "client/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/limits.h"

/* A socket that does not support an option (such as a UNIX socket) may still connect. */
static void watch_over(int fd)
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

int sockets_open(struct sockets *s, int family, int type, int protocol)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return -1;
    watch_over(fd);
    if (s->len == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 8;
        s->fds = xreallocarray(s->fds, s->cap, sizeof *s->fds);
    }
    s->fds[s->len++] = fd;
    return fd;
}

void sockets_close(struct sockets *s, int fd)
{
    for (size_t i = 0; i < s->len; i++) {
        if (s->fds[i] == fd) {
            s->fds[i] = s->fds[--s->len];
            break;
        }
    }
    close(fd);
}

void sockets_drop(struct sockets *s)
{
    for (size_t i = 0; i < s->len; i++)
        (void) shutdown(s->fds[i], SHUT_RDWR);
}

void sockets_clear(struct sockets *s)
{
    free(s->fds);
    *s = (struct sockets){ 0 };
}
