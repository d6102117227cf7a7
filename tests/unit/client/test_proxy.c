/* Which proxy a kubeconfig's server is reached through where it names none: as kubectl takes it
 * from the environment. */
#include "client/config.h"
#include "client/proxy.h"

#include <stdlib.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

#define SERVER "https://api.example.com:6443"

static const struct proxy_row {
    const char *name, *server, *variable, *value, *proxy, *error;
} proxies[] = {
    { "in capitals", SERVER, "HTTPS_PROXY", "http://p:3128", "http://p:3128", NULL },
    { "in small letters", SERVER, "https_proxy", "https://p", "https://p", NULL },
    { "a host and a port", SERVER, "HTTPS_PROXY", "p:3128", "http://p:3128", NULL },
    { "a scheme in capitals", SERVER, "HTTPS_PROXY", "HTTP://p:3128", "http://p:3128", NULL },
    { "socks: the proxy resolves names", SERVER, "HTTPS_PROXY", "socks5://p:1080",
      "socks5h://p:1080", NULL },
    { "empty", SERVER, "HTTPS_PROXY", "", NULL, NULL },
    { "of another protocol", SERVER, "HTTP_PROXY", "http://p:3128", NULL, NULL },
    { "a name of this machine", "https://localhost:6443", "HTTPS_PROXY", "http://p", NULL, NULL },
    { "an address of this machine", "https://127.0.0.1:6443", "HTTPS_PROXY", "http://p", NULL,
      NULL },
    { "a strange one", SERVER, "HTTPS_PROXY", "ftp://p", NULL,
      "HTTPS_PROXY must begin with http://" },
};

static void config_of(struct config *c, const char *server)
{
    *c = (struct config){ 0 };
    assert_int_equal(endpoint_parse(server, &c->server, NULL), 0);
}

static void check_proxy(void **state)
{
    const struct proxy_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    struct config c;
    config_of(&c, row->server);
    setenv(row->variable, row->value, 1);
    int rc = proxy_take_environment(&c.server, &c.proxy_url, &e);
    unsetenv(row->variable);
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_true(str_has_prefix(err_msg(&e), str_or_empty(row->error)));
    assert_string_equal(str_or_empty(c.proxy_url), str_or_empty(row->proxy));
    config_clear(&c);
}

static void a_proxy_of_its_own_goes_before(void **state)
{
    (void) state;
    struct config c;
    config_of(&c, SERVER);
    assert_int_equal(proxy_take("socks5://own", "proxy-url", &c.proxy_url, NULL), 0);
    setenv("HTTPS_PROXY", "http://p", 1);
    setenv("NO_PROXY", "*", 1);
    assert_int_equal(proxy_take_environment(&c.server, &c.proxy_url, NULL), 0);
    assert_string_equal(c.proxy_url, "socks5h://own");
    unsetenv("HTTPS_PROXY");
    unsetenv("NO_PROXY");
    config_clear(&c);
}

/* An unsupported proxy does no harm to a client that needs none. */
static void what_is_excepted_needs_none(void **state)
{
    (void) state;
    struct config c;
    config_of(&c, SERVER);
    setenv("HTTPS_PROXY", "ftp://p", 1);
    setenv("no_proxy", "example.com", 1);
    assert_int_equal(proxy_take_environment(&c.server, &c.proxy_url, NULL), 0);
    assert_null(c.proxy_url);
    unsetenv("HTTPS_PROXY");
    unsetenv("no_proxy");
    config_clear(&c);
}

#define V4 "https://10.1.2.3:6443"
#define V6 "https://[fd00::1]:6443"

static const struct except_row {
    const char *name, *list, *server;
    bool excepted;
} excepts[] = {
    { "everything", "*", SERVER, true },
    { "everything, beside others", "foo, * ,bar", SERVER, true },
    { "nothing", "", SERVER, false },
    { "nothing but commas", " , ,,", SERVER, false },
    { "its name", "api.example.com", SERVER, true },
    { "its name, in capitals", "API.Example.com", SERVER, true },
    { "its domain", "example.com", SERVER, true },
    { "its domain with a dot", ".example.com", SERVER, true },
    { "its domain with a star", "*.example.com", SERVER, true },
    { "a dot is for what is below alone", ".api.example.com", SERVER, false },
    { "a star is for what is below alone", "*.api.example.com", SERVER, false },
    { "the end of a name is no domain", "ample.com", SERVER, false },
    { "a name below it", "www.api.example.com", SERVER, false },
    { "its name and port", "api.example.com:6443", SERVER, true },
    { "its name and another port", "api.example.com:443", SERVER, false },
    { "a port that is none", "api.example.com:x", SERVER, false },
    { "one of several, with spaces", "foo.org, 10.0.0.0/8,\tapi.example.com ", SERVER, true },
    { "its address", "10.1.2.3", V4, true },
    { "its address and port", "10.1.2.3:6443", V4, true },
    { "its address and another port", "10.1.2.3:443", V4, false },
    { "another address", "10.1.2.30", V4, false },
    { "its network", "10.0.0.0/8", V4, true },
    { "its network, not by whole bytes", "10.1.2.0/30", V4, true },
    { "the network beside it", "10.1.2.4/30", V4, false },
    { "all networks", "0.0.0.0/0", V4, true },
    { "its address as a network", "10.1.2.3/32", V4, true },
    { "a network that is none", "10.0.0.0/33", V4, false },
    { "a network says nothing of names", "0.0.0.0/0", SERVER, false },
    { "its IPv6 address", "fd00::1", V6, true },
    { "its IPv6 address otherwise written", "FD00:0:0::1", V6, true },
    { "its IPv6 address in brackets", "[fd00::1]", V6, true },
    { "its IPv6 address and port", "[fd00::1]:6443", V6, true },
    { "its IPv6 address and another port", "[fd00::1]:443", V6, false },
    { "its IPv6 network", "fd00::/8", V6, true },
    { "another IPv6 network", "fe00::/8", V6, false },
    { "a network of the other kind", "0.0.0.0/0", V6, false },
    { "signs alone", "[,],:,[]:1,/,*.,.", V6, false },
};

static void check_except(void **state)
{
    const struct except_row *row = *state;
    struct config c;
    config_of(&c, row->server);
    assert_int_equal(proxy_is_excepted(row->list, &c.server), row->excepted);
    config_clear(&c);
}

int main(void)
{
    static const char *const names[] = { "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_proxy, proxies);
    suite_add(&s, "a proxy of its own goes before", a_proxy_of_its_own_goes_before, NULL);
    suite_add(&s, "what is excepted needs none", what_is_excepted_needs_none, NULL);
    SUITE_ROWS(&s, check_except, excepts);
    return suite_run(&s, "proxy");
}
