#include "serve/http1.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

enum part {
    PART_HEAD,
    PART_BODY,
    PART_CHUNK_SIZE,
    PART_CHUNK,
    PART_CHUNK_END,
    PART_TRAILER,
    PART_WHOLE,
    PART_BAD
};

struct http1 {
    struct buf in; /* received bytes that are not parsed yet */
    char *head;    /* request line and headers, split into strings */
    struct buf body;
    struct http1_request request;
    enum part part;
    size_t left; /* missing bytes of the body or chunk */
    bool asked;  /* "100 Continue" was requested and reported */
    int status;
    const char *sentence;
};

static const char *const names[HTTP1_HEADER_COUNT] = {
    [HTTP1_ACCEPT] = "Accept",
    [HTTP1_AUTHORIZATION] = "Authorization",
    [HTTP1_CONNECTION] = "Connection",
    [HTTP1_CONTENT_LENGTH] = "Content-Length",
    [HTTP1_CONTENT_TYPE] = "Content-Type",
    [HTTP1_EXPECT] = "Expect",
    [HTTP1_HOST] = "Host",
    [HTTP1_IF_NONE_MATCH] = "If-None-Match",
    [HTTP1_LAST_EVENT_ID] = "Last-Event-ID",
    [HTTP1_SEC_FETCH_DEST] = "Sec-Fetch-Dest",
    [HTTP1_SEC_FETCH_MODE] = "Sec-Fetch-Mode",
    [HTTP1_SEC_FETCH_SITE] = "Sec-Fetch-Site",
    [HTTP1_TRANSFER_ENCODING] = "Transfer-Encoding",
    [HTTP1_USER_AGENT] = "User-Agent",
};

struct http1 *http1_new(void)
{
    struct http1 *h = xcalloc(1, sizeof *h);
    h->in = (struct buf) BUF_INIT(HTTP1_HEAD_MAX + HTTP1_BODY_MAX + 64 * 1024);
    h->body = (struct buf) BUF_INIT(HTTP1_BODY_MAX);
    return h;
}

void http1_free(struct http1 *h)
{
    if (!h)
        return;
    buf_clear(&h->in);
    buf_clear(&h->body);
    free(h->head);
    free(h);
}

/* Always true, which callers read as "progress" or as "failed". */
static bool bad(struct http1 *h, int status, const char *sentence)
{
    h->part = PART_BAD;
    h->status = status;
    h->sentence = sentence;
    return true;
}

/* A token of RFC 9110: the characters of methods and header names. */
static bool is_token(const char *s)
{
    return *s &&
           s[strspn(
               s,
               "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] ==
               '\0';
}

static bool has_control(const char *s)
{
    for (; *s; s++)
        if (((unsigned char) *s < 0x20 && *s != '\t') || *s == 0x7f)
            return true;
    return false;
}

static bool read_request_line(struct http1 *h, char *line)
{
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version)
        return bad(h, 400, "the request line is not: method, target, version");
    *target++ = *version++ = '\0';
    if (!str_eq(version, "HTTP/1.1") && !str_eq(version, "HTTP/1.0"))
        return bad(h, 505, "only HTTP/1.1 and HTTP/1.0 are served");
    if (!is_token(line) || *target != '/' || has_control(target))
        return bad(h, 400, "the method or the target of the request is malformed");
    h->request.method = line;
    h->request.target = target;
    h->request.close = str_eq(version, "HTTP/1.0");
    return false;
}

static bool read_header(struct http1 *h, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon)
        return bad(h, 400, "a header has no colon");
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    for (size_t n = strlen(value); n > 0 && strchr(" \t", value[n - 1]); n--)
        value[n - 1] = '\0';
    if (!is_token(line) || has_control(value))
        return bad(h, 400, "a header is malformed");
    for (size_t i = 0; i < HTTP1_HEADER_COUNT; i++) {
        if (strcasecmp(line, names[i]) != 0)
            continue;
        if (h->request.headers[i] && (i == HTTP1_CONTENT_LENGTH || i == HTTP1_TRANSFER_ENCODING ||
                                      i == HTTP1_HOST || i == HTTP1_AUTHORIZATION))
            return bad(h, 400, "a header that must be unique is repeated");
        h->request.headers[i] = value;
    }
    return false;
}

/* Finds the form of the body from the headers. */
static bool expect_body(struct http1 *h)
{
    const char *length = h->request.headers[HTTP1_CONTENT_LENGTH],
               *coding = h->request.headers[HTTP1_TRANSFER_ENCODING];
    const char *connection = h->request.headers[HTTP1_CONNECTION];
    int64_t bytes = 0;
    if (connection && strcasestr(connection, "close"))
        h->request.close = true;
    if (length && coding)
        return bad(h, 400, "Content-Length and Transfer-Encoding contradict each other");
    if (coding && strcasecmp(coding, "chunked") != 0)
        return bad(h, 501, "the only supported Transfer-Encoding is chunked");
    if (length && !str_parse_int(length, 0, INT64_MAX, &bytes))
        return bad(h, 400, "Content-Length is not a number");
    if (bytes > HTTP1_BODY_MAX)
        return bad(h, 413, "the body is too large");
    h->left = (size_t) bytes;
    h->part = coding ? PART_CHUNK_SIZE : PART_BODY;
    return false;
}

/* True after progress: there may be more to do. */
static bool step_head(struct http1 *h)
{
    if (h->in.len == 0)
        return false;
    const char *end = memmem(h->in.data, h->in.len, "\r\n\r\n", 4);
    size_t len = end ? (size_t) (end - h->in.data) : h->in.len;
    if (len > HTTP1_HEAD_MAX)
        return bad(h, 431, "the headers are too large");
    if (!end)
        return false;
    if (memchr(h->in.data, '\0', len))
        return bad(h, 400, "the headers contain a NUL");
    free(h->head);
    h->head = xstrndup(h->in.data, len);
    buf_consume(&h->in, len + 4);
    h->request = (struct http1_request){ 0 };
    h->asked = false;
    char *rest = h->head;
    for (bool first = true; rest; first = false) {
        char *line = rest, *eol = strstr(rest, "\r\n");
        rest = eol ? eol + 2 : NULL;
        if (eol)
            *eol = '\0';
        if (first ? read_request_line(h, line) : read_header(h, line))
            return true;
    }
    expect_body(h);
    return true;
}

/* Moves up to h->left bytes into the body; true once all have arrived. */
static bool take_body(struct http1 *h)
{
    size_t n = h->left < h->in.len ? h->left : h->in.len;
    if (n > 0 && !buf_add(&h->body, h->in.data, n)) {
        bad(h, 413, "the body is too large");
        return false;
    }
    if (n > 0)
        buf_consume(&h->in, n);
    h->left -= n;
    return h->left == 0;
}

/* One line of the chunked coding, without its CRLF; NULL: incomplete. Owned by the caller. */
static char *http1_take_line(struct http1 *h)
{
    const char *end = h->in.len ? memmem(h->in.data, h->in.len, "\r\n", 2) : NULL;
    if (!end) {
        if (h->in.len > 4096)
            bad(h, 400, "a line of the chunked coding is too long");
        return NULL;
    }
    size_t len = (size_t) (end - h->in.data);
    char *line = xstrndup(h->in.data, len);
    buf_consume(&h->in, len + 2);
    return line;
}

static bool step_chunk_size(struct http1 *h)
{
    CLEANUP_FREE char *line = http1_take_line(h);
    if (!line)
        return false;
    size_t digits = strspn(line, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 8 || (line[digits] != '\0' && line[digits] != ';'))
        return bad(h, 400, "the size of a chunk is malformed");
    h->left = strtoul(line, NULL, 16);
    if (h->left > HTTP1_BODY_MAX)
        return bad(h, 413, "the body is too large");
    h->part = h->left ? PART_CHUNK : PART_TRAILER;
    return true;
}

static bool step_chunk_end(struct http1 *h)
{
    CLEANUP_FREE char *line = http1_take_line(h);
    if (!line)
        return false;
    if (*line)
        return bad(h, 400, "a chunk is longer than its size");
    h->part = PART_CHUNK_SIZE;
    return true;
}

static bool step_trailer(struct http1 *h)
{
    CLEANUP_FREE char *line = http1_take_line(h);
    if (!line)
        return false;
    if (*line == '\0')
        h->part = PART_WHOLE;
    return true;
}

static bool step_body(struct http1 *h)
{
    if (!take_body(h))
        return false;
    h->part = h->part == PART_BODY ? PART_WHOLE : PART_CHUNK_END;
    return true;
}

static bool http1_step(struct http1 *h)
{
    static bool (*const steps[])(struct http1 * h) = {
        [PART_HEAD] = step_head,
        [PART_BODY] = step_body,
        [PART_CHUNK_SIZE] = step_chunk_size,
        [PART_CHUNK] = step_body,
        [PART_CHUNK_END] = step_chunk_end,
        [PART_TRAILER] = step_trailer,
        [PART_BAD] = NULL,
    };
    return steps[h->part] && steps[h->part](h);
}

static enum http1_state advance(struct http1 *h)
{
    while (http1_step(h))
        ;
    if (h->part == PART_BAD)
        return HTTP1_BAD;
    if (h->part == PART_WHOLE) {
        h->request.body = buf_text(&h->body);
        h->request.body_len = h->body.len;
        return HTTP1_REQUEST;
    }
    const char *expect = h->part == PART_HEAD ? NULL : h->request.headers[HTTP1_EXPECT];
    if (expect && !h->asked && strcasecmp(expect, "100-continue") == 0) {
        h->asked = true;
        return HTTP1_CONTINUE;
    }
    return HTTP1_MORE;
}

enum http1_state http1_feed(struct http1 *h, const char *bytes, size_t n)
{
    if (n > 0 && h->part != PART_BAD && !buf_add(&h->in, bytes, n))
        bad(h, 413, "the request exceeds the receive buffer");
    return h->part == PART_WHOLE ? HTTP1_REQUEST : advance(h);
}

const struct http1_request *http1_request(const struct http1 *h)
{
    return &h->request;
}

enum http1_state http1_next(struct http1 *h)
{
    h->part = PART_HEAD;
    buf_reset(&h->body);
    return advance(h);
}

int http1_problem(const struct http1 *h, const char **ret_sentence)
{
    *ret_sentence = h->sentence;
    return h->status;
}
