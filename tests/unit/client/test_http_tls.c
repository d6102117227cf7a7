/* The client against a server on loopback with TLS: whom it trusts, how it shows who it is, and
 * what is renewed. */
#include "client/http.h"

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/client.h"

static const struct tls_case {
    const char *name;
    const char *port;
    const char *cluster;
    const char *user;
    const char *error; /* NULL: it works */
} tls_cases[] = {
    { "the right authority", "tls", "certificate-authority: ca-a.crt", "", NULL },
    { "another authority", "tls", "certificate-authority: ca-b.crt", "",
      "is not signed by the certificate authority: check certificate-authority" },
    { "the system's authorities", "tls", "", "", "is not signed by the certificate authority" },
    { "no check wanted", "tls", "insecure-skip-tls-verify: true", "", NULL },
    { "an expired server", "expired", "certificate-authority: ca-a.crt", "",
      "has expired: renew it on the server" },
    { "another name", "named", "certificate-authority: ca-a.crt", "", "is for another name" },
    { "another name that is configured", "named",
      "certificate-authority: ca-a.crt, tls-server-name: kubernetes.test", "", NULL },
    { "no TLS there", "plain", "certificate-authority: ca-a.crt", "",
      "does not speak TLS on this port" },
    { "a client certificate", "mtls", "certificate-authority: ca-a.crt",
      "client-certificate: client.crt, client-key: client.key", NULL },
    { "no client certificate", "mtls", "certificate-authority: ca-a.crt", "",
      "requires a client certificate" },
    { "an expired client certificate", "mtls", "certificate-authority: ca-a.crt",
      "client-certificate: client-expired.crt, client-key: client-expired.key",
      "the client certificate has expired" },
    { "the key of another certificate", "mtls", "certificate-authority: ca-a.crt",
      "client-certificate: client.crt, client-key: ca-b.key",
      "the client certificate and key cannot be used" },
};

static void check_tls(void **state)
{
    const struct tls_case *t = *state;
    struct client c;
    client_open(&c, "https", t->port, t->cluster, t->user);
    static const enum request_class classes[] = { REQUEST_READ, REQUEST_WATCH };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        struct answer a = { 0 };
        client_ask(&c, &a, classes[i], "/echo");
        client_run_until(&c, &a.done);
        if (t->error)
            answer_expect_error(&a, ERR_UNREACHABLE, t->error);
        else
            answer_expect_ok(&a);
        answer_clear(&a);
    }
    client_close(&c);
}

static void host_header_is_the_real_host(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "https", "named",
                "certificate-authority: ca-a.crt, tls-server-name: kubernetes.test", "");
    struct answer a = { 0 };
    client_get(&c, &a, "/echo");
    CLEANUP_JSON json_t *echo = answer_echo(&a);
    CLEANUP_FREE char *host = xasprintf("127.0.0.1:%d", client_server_port("named"));
    assert_string_equal(json_key(json_at(echo, "headers"), "Host"), host);
    answer_clear(&a);
    client_close(&c);
}

static const struct refusal_case {
    const char *name;
    const char *user;
    const char *part;
} refusal_cases[] = {
    { "401 with an expired certificate",
      "client-certificate: client-expired.crt, client-key: client-expired.key",
      "rejects the client certificate: it expired on 20" },
    { "401 with a certificate", "client-certificate: client.crt, client-key: client.key",
      "rejects the client certificate: check" },
    { "401 with a token", "token: wrong", "rejects the token: get another one" },
    { "401 with a token from a file", "tokenFile: wrong-token", "rejects the token from /" },
    { "401 without credentials", "", "requires credentials, but none are set" },
};

static void check_refusal(void **state)
{
    const struct refusal_case *r = *state;
    client_write_file(client_file("wrong-token"), "wrong");
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca-a.crt", r->user);
    struct answer a = { 0 };
    client_get(&c, &a, "/token?right");
    assert_int_equal(a.result.status, 401);
    answer_expect_error(&a, ERR_UNAUTHORIZED, r->part);
    answer_clear(&a);
    client_close(&c);
}

static void a_renewed_token_is_used_after_401(void **state)
{
    (void) state;
    client_write_file(client_file("token"), "old\n");
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca-a.crt", "tokenFile: token");
    struct answer a = { 0 };
    client_get(&c, &a, "/token?old");
    answer_expect_ok(&a);
    client_write_file(client_file("token"), "new\n");
    client_get(&c, &a, "/token?old");
    answer_expect_ok(&a); /* not a minute later: the file is not looked at */
    client_get(&c, &a, "/token?new");
    assert_int_equal(a.result.status, 401);
    client_get(&c, &a, "/token?new");
    answer_expect_ok(&a);
    client_write_file(client_file("token"), ""); /* the last good one stays */
    client_get(&c, &a, "/token?other");
    assert_int_equal(a.result.status, 401);
    client_get(&c, &a, "/token?new");
    answer_expect_ok(&a);
    answer_clear(&a);
    client_close(&c);
}

static void a_renewed_authority_is_used(void **state)
{
    (void) state;
    client_copy_file(client_file("ca-a.crt"), client_file("ca.crt"));
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca.crt", "");
    struct answer a = { 0 }, watch = { 0 };
    client_get(&c, &a, "/echo");
    answer_expect_ok(&a);
    client_ask(&c, &watch, REQUEST_WATCH, "/ticks");
    client_run_until(&c, &watch.pieces);

    client_copy_file(client_file("ca-b.crt"), client_file("ca.crt"));
    config_doubt(&c.config);     /* as if a minute had passed */
    client_get(&c, &a, "/echo"); /* the old connection, which would still work, is not used */
    answer_expect_error(&a, ERR_UNREACHABLE, "is not signed by");
    client_run_until(&c, &watch.done); /* nor goes a watch on */
    answer_expect_error(&watch, ERR_UNREACHABLE, "broke");

    client_copy_file(client_file("ca-a.crt"), client_file("ca.crt"));
    client_get(&c, &a, "/echo"); /* the refusal was reason enough to read it again */
    answer_expect_ok(&a);
    answer_clear(&a);
    answer_clear(&watch);
    client_close(&c);
}

static void a_renewed_client_certificate_is_used(void **state)
{
    (void) state;
    client_copy_file(client_file("client.crt"), client_file("me.crt"));
    client_copy_file(client_file("client.key"), client_file("me.key"));
    struct client c;
    client_open(&c, "https", "mtls", "certificate-authority: ca-a.crt",
                "client-certificate: me.crt, client-key: me.key");
    struct answer a = { 0 };
    client_get(&c, &a, "/echo");
    CLEANUP_JSON json_t *first = answer_echo(&a);
    assert_string_equal(json_str(first, "peer.commonName"), "client");
    client_copy_file(client_file("client-2.crt"), client_file("me.crt"));
    client_copy_file(client_file("client-2.key"), client_file("me.key"));
    config_doubt(&c.config);
    client_get(&c, &a, "/echo");
    CLEANUP_JSON json_t *second = answer_echo(&a);
    assert_string_equal(json_str(second, "peer.commonName"), "client-2");
    answer_clear(&a);
    client_close(&c);
}

int main(void)
{
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(host_header_is_the_real_host),
        cmocka_unit_test(a_renewed_token_is_used_after_401),
        cmocka_unit_test(a_renewed_authority_is_used),
        cmocka_unit_test(a_renewed_client_certificate_is_used),
    };
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        suite_add(&s, plain[i].name, plain[i].test_func, NULL);
    SUITE_ROWS(&s, check_tls, tls_cases);
    SUITE_ROWS(&s, check_refusal, refusal_cases);
    return client_tests_run(&s, "test_http_tls");
}
