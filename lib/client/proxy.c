#include "client/proxy.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

int proxy_take(const char *url, const char *called, char **ret, struct err *e)
{
    /* In kubeconfigs, "socks5" lets the proxy resolve names; curl calls that socks5h. */
    static const struct {
        const char *scheme;
        const char *curl;
    } schemes[] = {
        { "http://", "http://" },
        { "https://", "https://" },
        { "socks5://", "socks5h://" },
        { "socks5h://", "socks5h://" },
    };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t len = strlen(schemes[i].scheme);
        if (strncasecmp(url, schemes[i].scheme, len) == 0) {
            *ret = xasprintf("%s%s", schemes[i].curl, url + len);
            return 0;
        }
    }
    return err_set(e, ERR_INVALID, "%s must begin with http://, https:// or socks5://", called);
}

/* ---- NO_PROXY */

struct address {
    int family;
    unsigned char bytes[sizeof(struct in6_addr)];
};

static bool parse_address(const char *text, struct address *ret)
{
    ret->family = strchr(text, ':') ? AF_INET6 : AF_INET;
    return inet_pton(ret->family, text, ret->bytes) == 1;
}

static int64_t bits_of(const struct address *a)
{
    return a->family == AF_INET ? 32 : 128;
}

/* Whether the first bits of two addresses are equal. */
static bool same_bits(const struct address *a, const struct address *b, int64_t bits)
{
    size_t whole = (size_t) bits / 8;
    unsigned rest = (unsigned) bits % 8;
    if (a->family != b->family || memcmp(a->bytes, b->bytes, whole) != 0)
        return false;
    return rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

/* "10.0.0.0/8", with a pointer to its slash. */
static bool network_has(char *text, char *slash, const char *host)
{
    struct address network, address;
    int64_t bits;
    *slash = '\0';
    return parse_address(text, &network) && parse_address(host, &address) &&
           str_parse_int(slash + 1, 0, bits_of(&network), &bits) &&
           same_bits(&network, &address, bits);
}

/* Removes the port from an entry; returns whether it is absent or the server's. */
static bool port_fits(char *entry, int port)
{
    char *colon = strrchr(entry, ':');
    int64_t n;
    if (!colon || (*entry != '[' && strchr(entry, ':') != colon) ||
        (*entry == '[' && colon[-1] != ']'))
        return true; /* an IPv6 address contains colons */
    *colon = '\0';
    return str_parse_int(colon + 1, 0, UINT16_MAX, &n) && n == port;
}

/* Removes the brackets of an IPv6 address. */
static char *without_brackets(char *host)
{
    size_t len = strlen(host);
    if (*host != '[' || host[len - 1] != ']')
        return host;
    host[len - 1] = '\0';
    return host + 1;
}

static bool name_has(const char *name, const char *host)
{
    const char *below = str_has_prefix(name, "*.") ? name + 1 : name;
    size_t host_len = strlen(host), len = strlen(below);
    if (*below != '.' && strcasecmp(below, host) == 0)
        return true;
    if (host_len <= len || strcasecmp(host + host_len - len, below) != 0)
        return false;
    return *below == '.' || host[host_len - len - 1] == '.';
}

static bool entry_has(char *entry, const struct endpoint *server)
{
    struct address named, address;
    char *slash = strchr(entry, '/');
    if (slash)
        return network_has(entry, slash, server->host);
    if (!port_fits(entry, server->port))
        return false;
    const char *host = without_brackets(entry);
    if (parse_address(host, &named))
        return parse_address(server->host, &address) &&
               same_bits(&named, &address, bits_of(&named));
    return *host && name_has(host, server->host);
}

bool proxy_is_excepted(const char *list, const struct endpoint *server)
{
    CLEANUP_FREE char *copy = xstrdup(list);
    char *rest = copy, *entry;
    bool excepted = false;
    while ((entry = strsep(&rest, ","))) {
        entry += strspn(entry, " \t");
        entry[strcspn(entry, " \t")] = '\0';
        excepted |= str_eq(entry, "*") || entry_has(entry, server);
    }
    return excepted;
}

/* ---- the environment */

/* An environment variable in capitals or small letters; NULL if unset or empty. */
static const char *either(const char *capitals, const char *small)
{
    const char *value = getenv(capitals);
    if (!value || !*value)
        value = getenv(small);
    return value && *value ? value : NULL;
}

int proxy_take_environment(const struct endpoint *server, char **ret, struct err *e)
{
    const char *proxy = either("HTTPS_PROXY", "https_proxy");
    const char *direct = either("NO_PROXY", "no_proxy");
    if (*ret || !proxy || endpoint_is_loopback(server) ||
        (direct && proxy_is_excepted(direct, server)))
        return 0;
    CLEANUP_FREE char *url = xasprintf("%s%s", strstr(proxy, "://") ? "" : "http://", proxy);
    return proxy_take(url, "HTTPS_PROXY", ret, e);
}
