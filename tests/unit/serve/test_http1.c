#include "serve/http1.h"

#include <string.h>

#include "tests/unit/support/suite.h"

/* Requests in the stream, as "METHOD target body" lines; a refusal as its status. */
static const struct row {
    const char *name;
    const char *stream;
    const char *out;
} rows[] = {
    { "a request without a body", "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a \n" },
    { "a body by its length", "PUT /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "PUT /a {}\n" },
    { "a body in chunks, with an extension and a trailer",
      "PATCH /a HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: "
      "v\r\n\r\n",
      "PATCH /a abcde\n" },
    { "two requests in one piece", "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
      "GET /a \nGET /b \n" },
    { "HTTP/1.0 closes", "GET /a HTTP/1.0\r\n\r\n", "GET /a  close\n" },
    { "Connection: close", "GET /a HTTP/1.1\r\nConnection: close\r\n\r\n", "GET /a  close\n" },
    { "a client that asks before it sends",
      "PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", "continue\n" },
    { "half a head is not a request yet", "GET /a HTTP/1.1\r\nHost", "" },
    { "half a body is not a request yet", "PUT /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nab", "" },
    { "length and chunks contradict",
      "PUT /a HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400\n" },
    { "two lengths", "PUT /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "400\n" },
    { "a negative length", "PUT /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400\n" },
    { "a length that is too large", "PUT /a HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
      "413\n" },
    { "a chunk that is longer than its size",
      "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "400\n" },
    { "a chunk without a size", "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
      "400\n" },
    { "another coding", "PUT /a HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "501\n" },
    { "a space before a colon", "GET /a HTTP/1.1\r\nHost : x\r\n\r\n", "400\n" },
    { "obsolete folding", "GET /a HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", "400\n" },
    { "a control character", "GET /a HTTP/1.1\r\nHost: x\001\r\n\r\n", "400\n" },
    { "a target that is no path", "GET http://a/ HTTP/1.1\r\n\r\n", "400\n" },
    { "another protocol", "GET /a HTTP/2.0\r\n\r\n", "505\n" },
    { "no HTTP at all", "hello\r\n\r\n", "400\n" },
};

static void collect(struct http1 *h, enum http1_state state, struct buf *out)
{
    const char *sentence;
    for (; state == HTTP1_REQUEST; state = http1_next(h)) {
        const struct http1_request *r = http1_request(h);
        buf_printf(out, "%s %s %s%s\n", r->method, r->target, r->body, r->close ? " close" : "");
    }
    if (state == HTTP1_CONTINUE)
        buf_str(out, "continue\n");
    if (state == HTTP1_BAD)
        buf_printf(out, "%d\n", http1_problem(h, &sentence));
}

static void check_whole(void **state)
{
    const struct row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(65536);
    struct http1 *h = http1_new();
    collect(h, http1_feed(h, row->stream, strlen(row->stream)), &out);
    http1_free(h);
    assert_string_equal(buf_text(&out), row->out);
}

static void check_byte_by_byte(void **state)
{
    const struct row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(65536);
    struct http1 *h = http1_new();
    enum http1_state s = HTTP1_MORE;
    for (const char *p = row->stream; *p && s != HTTP1_BAD; p++) {
        s = http1_feed(h, p, 1);
        collect(h, s, &out);
    }
    http1_free(h);
    assert_string_equal(buf_text(&out), row->out);
}

static void headers_that_never_end_are_refused(void **state)
{
    (void) state;
    char line[1024];
    memset(line, 'a', sizeof line);
    struct http1 *h = http1_new();
    enum http1_state s = http1_feed(h, "GET / HTTP/1.1\r\nX: ", 19);
    for (int i = 0; i < 100 && s == HTTP1_MORE; i++)
        s = http1_feed(h, line, sizeof line);
    const char *sentence;
    assert_int_equal(s, HTTP1_BAD);
    assert_int_equal(http1_problem(h, &sentence), 431);
    http1_free(h);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_whole, rows);
    SUITE_ROWS(&s, check_byte_by_byte, rows);
    suite_add(&s, "headers that never end are refused", headers_that_never_end_are_refused, NULL);
    return suite_run(&s, "http1");
}
