/* Parses HTTP/1.1 requests from a byte stream: request line, headers, and a body by Content-Length
 * or in chunks. Pure. Refuses what a careful server refuses: two lengths, length and chunks, bare
 * CR, obsolete folding, spaces in names. */
#ifndef OSTLER_SERVE_HTTP1_H
#define OSTLER_SERVE_HTTP1_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
    HTTP1_HEAD_MAX = 64 * 1024, /* bytes of request line and headers; a real server allows 1 MiB */
    /* above the API server's own limit of 3 MiB, whose refusal is more helpful */
    HTTP1_BODY_MAX = 4 * 1024 * 1024,
};

/* The headers that are used. */
enum http1_header {
    HTTP1_ACCEPT,
    HTTP1_AUTHORIZATION,
    HTTP1_CONNECTION,
    HTTP1_CONTENT_LENGTH,
    HTTP1_CONTENT_TYPE,
    HTTP1_EXPECT,
    HTTP1_HOST,
    HTTP1_IF_NONE_MATCH,
    HTTP1_LAST_EVENT_ID,
    HTTP1_SEC_FETCH_DEST,
    HTTP1_SEC_FETCH_MODE,
    HTTP1_SEC_FETCH_SITE,
    HTTP1_TRANSFER_ENCODING,
    HTTP1_USER_AGENT,
    HTTP1_HEADER_COUNT
};

/* A request, owned by the parser and valid until http1_next(). */
struct http1_request {
    const char *method;
    const char *target;
    const char *headers[HTTP1_HEADER_COUNT]; /* NULL: absent */
    const char *body;
    size_t body_len;
    bool close; /* the client asks to close the connection afterwards */
};

struct http1;

/* The parser's state. */
enum http1_state {
    HTTP1_MORE,     /* more bytes are needed */
    HTTP1_CONTINUE, /* the client waits for "100 Continue" before the body; returned once */
    HTTP1_REQUEST,  /* a complete request */
    HTTP1_BAD,      /* an invalid request: send http1_problem() and close */
};

/* Creates a parser for a new connection, owned by the caller. */
struct http1 *http1_new(void);
/* Frees it with its request. NULL is allowed. */
void http1_free(struct http1 *h);
/* Takes bytes; keeps those of the next request. */
enum http1_state http1_feed(struct http1 *h, const char *bytes, size_t n);
/* The request, in state HTTP1_REQUEST. */
const struct http1_request *http1_request(const struct http1 *h);
/* Drops the request and parses the bytes after it. */
enum http1_state http1_next(struct http1 *h);
/* The status (400, 413, 431, 501, 505) and one sentence, in state HTTP1_BAD. */
int http1_problem(const struct http1 *h, const char **ret_sentence);

#endif
