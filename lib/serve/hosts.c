#include "serve/hosts.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

enum { PORT_DIGITS_MAX = 5, NAME_MAX_LENGTH = 253 };

static const char *const own[] = { "localhost", "127.0.0.1", "[::1]" };

static bool is_port(const char *s)
{
    size_t digits = strspn(s, "0123456789");
    return digits >= 1 && digits <= PORT_DIGITS_MAX && s[digits] == '\0';
}

/* The length of the name before ":PORT"; 0: there is none, or the port is none. */
static size_t name_length(const char *host)
{
    size_t n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (n > strlen(host)) /* a "[" without its "]" */
        return 0;
    return host[n] == '\0' || (host[n] == ':' && is_port(host + n + 1)) ? n : 0;
}

static bool is_name(const char *host, size_t n, const char *name, size_t name_len)
{
    return n == name_len && strncasecmp(host, name, n) == 0;
}

bool hosts_allow(const char *host, const char *more)
{
    size_t n = host ? name_length(host) : 0;
    if (n == 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (is_name(host, n, own[i], strlen(own[i])))
            return true;
    for (const char *at = more; *at; at += strspn(at, ",")) {
        size_t len = strcspn(at, ",");
        if (is_name(host, n, at, len))
            return true;
        at += len;
    }
    return false;
}

static bool is_host(const char *name, size_t n)
{
    CLEANUP_FREE char *copy = xstrndup(name, n);
    if (n == 0 || n > NAME_MAX_LENGTH)
        return false;
    if (*copy == '[')
        return copy[n - 1] == ']' && strspn(copy + 1, "0123456789abcdefABCDEF:.") == n - 2;
    return strspn(copy, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == n &&
           !strchr("-.", copy[0]) && !strchr("-.", copy[n - 1]);
}

bool hosts_are_valid(const char *list)
{
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        if (!is_host(at, n) || str_eq(at + n, ","))
            return false;
        at += n + (at[n] == ',');
    }
    return true;
}
