#include "client/proxy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

int proxy_take(const char *url, const char *called, struct config *c, struct err *e)
{
    /* By its meaning in kubeconfigs the proxy resolves the name; curl calls that socks5h. */
    static const struct {
        const char *scheme;
        const char *curl;
    } schemes[] = {
        { "http://", "http://" }, { "https://", "https://" }, { "socks5://", "socks5h://" }, { "socks5h://", "socks5h://" },
    };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (str_has_prefix(url, schemes[i].scheme)) {
            c->proxy_url = xasprintf("%s%s", schemes[i].curl, url + strlen(schemes[i].scheme));
            return 0;
        }
    }
    return err_set(e, ERR_INVALID, "%s begins neither with http:// nor https:// nor socks5://", called);
}

/* The value of an environment variable, which is written in capitals or not; NULL when unset or empty. */
static const char *either(const char *capitals, const char *small)
{
    const char *value = getenv(capitals);
    if (!value || !*value)
        value = getenv(small);
    return value && *value ? value : NULL;
}

int proxy_take_environment(struct config *c, struct err *e)
{
    const char *proxy = either("HTTPS_PROXY", "https_proxy");
    const char *direct = either("NO_PROXY", "no_proxy");
    if (c->proxy_url || !proxy || endpoint_is_loopback(&c->server))
        return 0;
    CLEANUP_FREE char *url = xasprintf("%s%s", strstr(proxy, "://") ? "" : "http://", proxy);
    c->no_proxy = direct ? xstrdup(direct) : NULL;
    return proxy_take(url, "HTTPS_PROXY", c, e);
}
