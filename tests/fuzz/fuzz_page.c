/* Requests to the fleet page: any bytes, whole and in pieces, are let in or refused alike, and only
 * with a Host that is allowed; and any text as the id after which a stream continues. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/hosts.h"
#include "serve/http1.h"
#include "serve/page_gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_MAX = 1 << 20 };

#define HOSTS "fleet.example,[fd00::1]"

/* The status of the first request: of the parser, or of the gate; 0: let in; -1: incomplete. */
static int status_of(struct http1 *h, enum http1_state state)
{
    const char *sentence = NULL;
    if (state == HTTP1_BAD)
        return http1_problem(h, &sentence);
    if (state != HTTP1_REQUEST)
        return -1;
    const struct http1_request *r = http1_request(h);
    int status = page_gate(r, HOSTS, &sentence);
    const char *host = r->headers[HTTP1_HOST];
    assert(status == 0 ? host && hosts_allow(host, HOSTS) : sentence && *sentence);
    if (status == 0)
        assert((str_eq(r->method, "GET") || str_eq(r->method, "HEAD")) && r->body_len == 0);
    page_tag_matches(r->headers[HTTP1_IF_NONE_MATCH], "pod_1f-7");
    return status;
}

static int in_pieces(const char *bytes, size_t size)
{
    struct http1 *h = http1_new();
    enum http1_state state = HTTP1_MORE;
    for (size_t at = 0, n = 1; at < size && state != HTTP1_REQUEST && state != HTTP1_BAD;
         at += n, n = n % 5 + 1) {
        n = n < size - at ? n : size - at;
        state = http1_feed(h, bytes + at, n);
    }
    int status = status_of(h, state == HTTP1_CONTINUE ? HTTP1_MORE : state);
    http1_free(h);
    return status;
}

/* A head has one empty line, at its end, whatever its parts are. */
static void check_head(const char *tag)
{
    CLEANUP_BUF struct buf out = BUF_INIT(HEAD_MAX);
    const struct page_head head = { .status = 200, .type = "text/plain", .tag = tag, .len = 1 };
    page_print_head(&head, &out);
    const char *end = strstr(buf_text(&out), "\r\n\r\n");
    assert(end && end[4] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *) data;
    struct http1 *h = http1_new();
    enum http1_state state = http1_feed(h, bytes, size);
    if (state == HTTP1_CONTINUE)
        state = HTTP1_MORE;
    int whole = status_of(h, state);
    http1_free(h);
    if (size < 4096)
        assert(whole == in_pieces(bytes, size));
    CLEANUP_FREE char *text = xstrndup(bytes, size);
    if (hosts_are_valid(text) && *text && !strchr(text, ','))
        assert(hosts_allow(text, text));
    check_head("pod_1f-7");
    return 0;
}
