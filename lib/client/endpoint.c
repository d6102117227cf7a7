#include "client/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { HOST_MAX = 253, PORT_MAX = 65535 };

/* Characters of a host name or address, including the zone of a link-local address. */
static bool is_host(const char *host)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%";
    size_t n = strlen(host);
    return n > 0 && n <= HOST_MAX && strspn(host, allowed) == n;
}

bool endpoint_is_loopback(const struct endpoint *ep)
{
    return str_eq(ep->host, "localhost") || str_eq(ep->host, "::1") ||
           str_has_prefix(ep->host, "127.");
}

/* Visible ASCII without characters that begin a query or a fragment. */
static bool is_path(const char *path)
{
    for (const char *p = path; *p; p++)
        if (*p <= ' ' || *p >= 0x7f || *p == '?' || *p == '#')
            return false;
    return true;
}

static bool parse_port(const char *text, int *ret)
{
    int64_t port;
    if (!str_parse_int(text, 1, PORT_MAX, &port))
        return false;
    *ret = (int) port;
    return true;
}

/* "host", "host:port", "[v6]", "[v6]:port" */
static bool parse_authority(char *authority, struct endpoint *ep)
{
    const char *host = authority;
    char *colon = strrchr(authority, ':');
    if (*authority == '[') {
        char *bracket = strchr(authority, ']');
        if (!bracket || (bracket[1] && bracket[1] != ':'))
            return false;
        colon = bracket[1] ? bracket + 1 : NULL;
        *bracket = '\0';
        host++;
    } else if (colon && strchr(authority, ':') != colon) {
        return false; /* IPv6 without brackets: the port is ambiguous */
    }
    if (colon) {
        *colon = '\0';
        if (!parse_port(colon + 1, &ep->port))
            return false;
    }
    if (!is_host(host))
        return false;
    ep->host = xstrdup(host);
    return true;
}

char *endpoint_url_with_host(const struct endpoint *ep, const char *host)
{
    bool v6 = strchr(host, ':');
    return xasprintf("%s://%s%s%s:%d", ep->tls ? "https" : "http", v6 ? "[" : "", host,
                     v6 ? "]" : "", ep->port);
}

static int parse_into(const char *text, struct endpoint *ep)
{
    ep->tls = str_has_prefix(text, "https://");
    if (!ep->tls && !str_has_prefix(text, "http://"))
        return -1;
    ep->port = ep->tls ? 443 : 80;
    const char *rest = strstr(text, "://") + 3;
    size_t authority_len = strcspn(rest, "/?#");
    CLEANUP_FREE char *authority = xstrndup(rest, authority_len);
    if (!parse_authority(authority, ep))
        return -1;
    const char *path = rest + authority_len;
    size_t path_len = strlen(path);
    while (path_len > 0 && path[path_len - 1] == '/')
        path_len--;
    ep->base_path = xstrndup(path, path_len);
    if (!is_path(ep->base_path))
        return -1;
    ep->url = endpoint_url_with_host(ep, ep->host);
    return 0;
}

int endpoint_parse(const char *text, struct endpoint *ret, struct err *e)
{
    struct endpoint ep = { 0 };
    if (parse_into(text, &ep) < 0) {
        endpoint_clear(&ep);
        /* the text is not shown: it may contain a password */
        return err_set(e, ERR_INVALID, "server is not an address like https://host:6443");
    }
    if (!ep.tls && !endpoint_is_loopback(&ep)) {
        err_set(e, ERR_INVALID,
                "server %s is not encrypted: use https:// (http:// is for loopback only)", ep.url);
        endpoint_clear(&ep);
        return -1;
    }
    *ret = ep;
    return 0;
}

int endpoint_of_service(const char *host, const char *port, struct endpoint *ret, struct err *e)
{
    struct endpoint ep = { .tls = true };
    if (!is_host(host) || !parse_port(port, &ep.port)) {
        CLEANUP_FREE char *shown_host = str_shortened(host, HOST_MAX);
        CLEANUP_FREE char *shown_port = str_shortened(port, HOST_MAX);
        return err_set(e, ERR_INVALID,
                       "KUBERNETES_SERVICE_HOST=%s and KUBERNETES_SERVICE_PORT=%s are not an "
                       "address: the kubelet sets them",
                       shown_host, shown_port);
    }
    ep.host = xstrdup(host);
    ep.base_path = xstrdup("");
    ep.url = endpoint_url_with_host(&ep, host);
    *ret = ep;
    return 0;
}

void endpoint_clear(struct endpoint *ep)
{
    free(ep->host);
    free(ep->url);
    free(ep->base_path);
    *ep = (struct endpoint){ 0 };
}
