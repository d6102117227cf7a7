/* The client against a server on loopback: what it sends, and how answers come out. */
#include "client/http.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/client.h"

/* ---- what is sent */

static void sends_what_the_request_says(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "https", "tls", "certificate-authority: ca-a.crt", "token: secret");
    c.config.user_agent = xstrdup("ostler/1.2");
    struct answer a = { 0 };
    client_ask_with(&c, &a,
                    (struct request){ .class = REQUEST_WRITE,
                                      .method = "PATCH",
                                      .path = xstrdup("/api/x?force=true"),
                                      .content_type = "application/apply-patch+yaml",
                                      .body = xstrdup("{\"a\":1}"),
                                      .timeout_ms = 5000 });
    client_run_until(&c, &a.done);
    CLEANUP_JSON json_t *echo = answer_echo(&a);
    const json_t *headers = json_at(echo, "headers");
    assert_string_equal(json_str(echo, "method"), "PATCH");
    assert_string_equal(json_str(echo, "path"), "/api/x?force=true");
    assert_string_equal(json_str(echo, "body"), "{\"a\":1}");
    assert_string_equal(json_key(headers, "Authorization"), "Bearer secret");
    assert_string_equal(json_key(headers, "Content-Type"), "application/apply-patch+yaml");
    assert_string_equal(json_key(headers, "Accept"), "application/json");
    assert_string_equal(json_key(headers, "User-Agent"), "ostler/1.2");
    assert_null(json_key(headers, "Expect"));
    assert_null(json_key(headers, "Accept-Encoding"));
    assert_int_equal(a.status_calls, 1);
    assert_int_equal(a.result.status, 200);
    assert_int_equal(a.result.retry_after_ms, -1);
    answer_clear(&a);
    client_close(&c);
}

static void every_method_is_sent(void **state)
{
    (void) state;
    static const char *const methods[] = { "GET", "POST", "PUT", "DELETE" };
    struct client c;
    client_open_plain(&c);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct answer a = { 0 };
        bool body = i > 0;
        client_ask_with(&c, &a,
                        (struct request){ .class = REQUEST_WRITE,
                                          .method = methods[i],
                                          .path = xstrdup("/x"),
                                          .content_type = body ? "application/json" : NULL,
                                          .body = body ? xstrdup("{}") : NULL });
        client_run_until(&c, &a.done);
        CLEANUP_JSON json_t *echo = answer_echo(&a);
        assert_string_equal(json_str(echo, "method"), methods[i]);
        assert_string_equal(json_str(echo, "body"), body ? "{}" : "");
        answer_clear(&a);
    }
    client_close(&c);
}

static void token_is_not_sent_in_the_clear(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "http", "plain", "", "token: secret");
    struct answer a = { 0 };
    client_get(&c, &a, "/echo");
    CLEANUP_JSON json_t *echo = answer_echo(&a);
    assert_null(json_key(json_at(echo, "headers"), "Authorization"));
    answer_clear(&a);
    client_close(&c);
}

static void base_path_goes_before_every_path(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    free(c.config.server.base_path);
    c.config.server.base_path = xstrdup("/k8s/clusters/c-1");
    struct answer a = { 0 };
    client_get(&c, &a, "/api/v1/nodes");
    CLEANUP_JSON json_t *echo = answer_echo(&a);
    assert_string_equal(json_str(echo, "path"), "/k8s/clusters/c-1/api/v1/nodes");
    answer_clear(&a);
    client_close(&c);
}

static void environment_proxies_do_not_count(void **state)
{
    (void) state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("HTTPS_PROXY", "http://127.0.0.1:1", 1);
    struct client c;
    client_open_tls(&c);
    struct answer a = { 0 };
    client_get(&c, &a, "/echo");
    answer_expect_ok(&a);
    client_close(&c);
    client_open_plain(&c);
    client_get(&c, &a, "/echo");
    answer_expect_ok(&a);
    client_close(&c);
    unsetenv("http_proxy");
    unsetenv("HTTPS_PROXY");
    answer_clear(&a);
}

static void a_proxy_that_is_away_is_told(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    c.config.proxy_url = xstrdup("http://127.0.0.1:1");
    struct answer a = { 0 };
    client_get(&c, &a, "/echo");
    answer_expect_error(&a, ERR_UNREACHABLE,
                        "Connection refused (by a proxy: see proxy-url, or HTTPS_PROXY");
    answer_clear(&a);
    client_close(&c);
}

/* ---- what comes back */

static void a_body_in_pieces_is_whole(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_get(&c, &a, "/chunks");
    answer_expect_ok(&a);
    assert_string_equal(buf_text(&a.body), "{\"type\":\"ADDED\"}\n");
    answer_clear(&a);
    client_close(&c);
}

static void a_refusal_has_its_body(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_get(&c, &a, "/gone");
    assert_int_equal(a.status, 410);
    assert_int_equal(a.result.err.kind, ERR_NONE);
    assert_non_null(strstr(buf_text(&a.body), "Expired"));
    answer_clear(&a);
    client_close(&c);
}

static void retry_after_is_read(void **state)
{
    (void) state;
    static const struct {
        const char *path;
        int64_t ms;
    } cases[] = {
        { "/retry?7", 7000 },
        { "/retry?0", 0 },
        { "/retry?-1", -1 },
        { "/retry?1.5", -1 },
        { "/retry?Fri,+20+Nov+2026+10:00:00+GMT", -1 },
    };
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        client_get(&c, &a, cases[i].path);
        assert_int_equal(a.result.status, 429);
        assert_int_equal(a.result.retry_after_ms, cases[i].ms);
    }
    answer_clear(&a);
    client_close(&c);
}

static void warnings_do_no_harm(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_get(&c, &a, "/warn");
    answer_expect_ok(&a);
    client_get(&c, &a, "/warn");
    answer_expect_ok(&a);
    answer_clear(&a);
    client_close(&c);
}

static void redirects_are_not_followed(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_get(&c, &a, "/redirect");
    assert_int_equal(a.result.status, 302);
    answer_clear(&a);
    client_close(&c);
}

static void only_reads_come_compressed(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_get(&c, &a, "/gzip");
    assert_string_equal(buf_text(&a.body), "{\"packed\":true}");
    answer_clear(&a);
    client_ask(&c, &a, REQUEST_WATCH, "/gzip");
    client_run_until(&c, &a.done);
    assert_string_equal(buf_text(&a.body), "{\"packed\":false}");
    c.config.compression = false;
    client_get(&c, &a, "/gzip");
    assert_string_equal(buf_text(&a.body), "{\"packed\":false}");
    answer_clear(&a);
    client_close(&c);
}

static const struct page_case {
    const char *name;
    enum request_class class; /* only reads come compressed */
    const char *pace;
} page_cases[] = {
    { "a large page, compressed and at once", REQUEST_READ, "fast" },
    { "a large page, compressed and slowly", REQUEST_READ, "slow" },
    { "a large page, plain and at once", REQUEST_WRITE, "fast" },
    { "a large page, plain and slowly", REQUEST_WRITE, "slow" },
};

/* Far more than the receive buffer, and than a turn takes: no data may stay in a lower buffer
 * that the client does not read again. */
static void check_page(void **state)
{
    enum { MIB = 11 };
    const struct page_case *p = *state;
    struct client c;
    client_open_tls(&c);
    CLEANUP_FREE char *path = xasprintf("/page?%d&%s", MIB, p->pace);
    struct answer a = { 0 }, beside = { 0 };
    client_ask(&c, &a, p->class, path);
    client_ask(&c, &beside, p->class, path);
    client_run_until(&c, &a.done);
    client_run_until(&c, &beside.done);
    answer_expect_ok(&a);
    answer_expect_ok(&beside);
    assert_int_equal(a.body.len, MIB << 20);
    assert_int_equal(beside.body.len, MIB << 20);
    assert_memory_equal(a.body.data, beside.body.data, a.body.len);
    answer_clear(&a);
    answer_clear(&beside);
    client_close(&c);
}

/* "METHOD status" for each request that was counted. */
static void count_answer(void *arg, const char *method, int status)
{
    buf_printf(arg, "%s %d; ", method, status);
}

static void every_answer_is_counted_once(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf counted = BUF_INIT(1000);
    struct client c;
    client_open_plain(&c);
    http_on_answer(c.http, (struct http_answers){ count_answer, &counted });
    struct answer a = { 0 }, watch = { 0 };
    client_get(&c, &a, "/echo");
    client_get(&c, &a, "/gone");
    client_get(&c, &a, "/reset"); /* no status at all */
    client_get(&c, &a, "/cut");   /* a status, and half a body */
    answer_clear(&a);
    client_ask(&c, &watch, REQUEST_WATCH, "/ticks"); /* when it begins, not when it ends */
    client_run_until(&c, &watch.pieces);
    assert_string_equal(buf_text(&counted), "GET 200; GET 410; GET 0; GET 200; GET 200; ");
    answer_clear(&watch);
    client_close(&c);
}

int main(void)
{
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(sends_what_the_request_says),
        cmocka_unit_test(every_method_is_sent),
        cmocka_unit_test(token_is_not_sent_in_the_clear),
        cmocka_unit_test(base_path_goes_before_every_path),
        cmocka_unit_test(environment_proxies_do_not_count),
        cmocka_unit_test(a_proxy_that_is_away_is_told),
        cmocka_unit_test(a_body_in_pieces_is_whole),
        cmocka_unit_test(a_refusal_has_its_body),
        cmocka_unit_test(retry_after_is_read),
        cmocka_unit_test(warnings_do_no_harm),
        cmocka_unit_test(redirects_are_not_followed),
        cmocka_unit_test(only_reads_come_compressed),
        cmocka_unit_test(every_answer_is_counted_once),
    };
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        suite_add(&s, plain[i].name, plain[i].test_func, NULL);
    SUITE_ROWS(&s, check_page, page_cases);
    return client_tests_run(&s, "test_http");
}
