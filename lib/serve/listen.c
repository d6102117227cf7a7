#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

enum { BACKLOG = 512 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool parse_host(const char *host, size_t len, in_port_t port, union address *ret)
{
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
        CLEANUP_FREE char *text = xstrndup(host + 1, len - 2);
        ret->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
        return inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1;
    }
    if (len > 0) {
        CLEANUP_FREE char *text = xstrndup(host, len);
        ret->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
        return inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1;
    }
    ret->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
    return true;
}

static bool listen_parse(const char *text, union address *ret)
{
    const char *colon = strrchr(text, ':');
    int64_t port;
    return colon && str_parse_int(colon + 1, 0, 65535, &port) &&
           parse_host(text, (size_t) (colon - text), htons((uint16_t) port), ret);
}

bool listen_is_address(const char *text)
{
    union address a;
    return listen_parse(text, &a);
}

static int open_socket(const union address *a)
{
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const int on = 1, off = 0;
    bool v6 = a->any.sa_family == AF_INET6;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0) ||
        bind(fd, &a->any, v6 ? sizeof a->v6 : sizeof a->v4) < 0 || listen(fd, BACKLOG) < 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int listen_on(const char *address, const char *option, struct err *e)
{
    union address a;
    if (!listen_parse(address, &a))
        return err_set(e, ERR_INVALID,
                       "\"%s\" is not an address to listen on: give IP:port, [IPv6]:port or :port",
                       address);
    int fd = open_socket(&a);
    if (fd < 0 && *address == ':' && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
        /* a kernel without IPv6 */
        a.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = a.v6.sin6_port };
        fd = open_socket(&a);
    }
    if (fd < 0)
        return err_set(e, ERR_SYSTEM,
                       "cannot listen on %s: %s; choose another address or port with %s", address,
                       strerror(errno), option);
    return fd;
}

int listen_port(int fd)
{
    union address a = { 0 };
    socklen_t len = sizeof a;
    if (getsockname(fd, &a.any, &len) < 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}
