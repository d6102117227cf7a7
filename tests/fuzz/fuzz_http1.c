/* Requests to the simulator's server: any bytes, fed whole and in pieces, give the same requests or
 * the same refusal. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "serve/http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 16 << 20 };

/* What came out so far; an end, or more bytes are wanted. */
static void drain(struct http1 *h, enum http1_state state, struct buf *out)
{
    for (; state == HTTP1_REQUEST; state = http1_next(h)) {
        const struct http1_request *r = http1_request(h);
        buf_printf(out, "%s %s %zu %d\n", r->method, r->target, r->body_len, r->close);
        for (size_t i = 0; i < HTTP1_HEADER_COUNT; i++)
            buf_printf(out, "%s\n", r->headers[i] ? r->headers[i] : "-");
    }
}

static void finish(struct http1 *h, struct buf *out)
{
    const char *sentence = "";
    int status = http1_feed(h, "", 0) == HTTP1_BAD ? http1_problem(h, &sentence) : 0;
    buf_printf(out, "%d %s\n", status, sentence);
    http1_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_BUF struct buf whole = BUF_INIT(TEXT_MAX), pieces = BUF_INIT(TEXT_MAX);
    struct http1 *h = http1_new();
    drain(h, http1_feed(h, (const char *) data, size), &whole);
    finish(h, &whole);
    h = http1_new();
    for (size_t at = 0, n = 1; at < size; at += n, n = n % 7 + 1) {
        if (n > size - at)
            n = size - at;
        drain(h, http1_feed(h, (const char *) data + at, n), &pieces);
    }
    finish(h, &pieces);
    assert(strcmp(buf_text(&whole), buf_text(&pieces)) == 0);
    return 0;
}
