/* HTTP/1.1 requests out of a stream of bytes: request line, headers, a body by Content-Length or in chunks. Pure; refuses what a
 * careful server refuses (two lengths, length and chunks, bare CR, obsolete folding, spaces in names). */
#ifndef OSTLER_SIM_SERVE_HTTP1_H
#define OSTLER_SIM_SERVE_HTTP1_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
    HTTP1_HEAD_MAX = 64 * 1024,        /* bytes of request line and headers; a real server has 1 MiB */
    HTTP1_BODY_MAX = 4 * 1024 * 1024,  /* above the API server's own limit of 3 MiB, whose answer is more helpful */
};

/* The headers that matter. */
enum http1_header {
    HTTP1_ACCEPT,
    HTTP1_AUTHORIZATION,
    HTTP1_CONNECTION,
    HTTP1_CONTENT_LENGTH,
    HTTP1_CONTENT_TYPE,
    HTTP1_EXPECT,
    HTTP1_HOST,
    HTTP1_TRANSFER_ENCODING,
    HTTP1_UPGRADE,
    HTTP1_USER_AGENT,
    HTTP1_HEADER_COUNT
};

/* A request; all is owned by the parser and valid until http1_next(). */
struct http1_request {
    const char *method;
    const char *target;
    const char *headers[HTTP1_HEADER_COUNT]; /* NULL: absent */
    const char *body;
    size_t body_len;
    bool close; /* the client wants the connection closed afterwards */
};

struct http1;

/* What is there so far. */
enum http1_state {
    HTTP1_MORE,     /* more bytes are needed */
    HTTP1_CONTINUE, /* the client waits for "100 Continue" before it sends the body; said once */
    HTTP1_REQUEST,  /* a whole request */
    HTTP1_BAD,      /* none that can be served: answer http1_problem() and close */
};

/* A parser at the beginning of a connection, owned by the caller. */
struct http1 *http1_new(void);
/* Frees it with its request. NULL is none. */
void http1_free(struct http1 *h);
/* Takes bytes; what belongs to the next request is kept for it. */
enum http1_state http1_feed(struct http1 *h, const char *bytes, size_t n);
/* The request, once the state is HTTP1_REQUEST. */
const struct http1_request *http1_request(const struct http1 *h);
/* Drops the request and looks at the bytes behind it. */
enum http1_state http1_next(struct http1 *h);
/* The status (400, 413, 431, 501, 505) and one sentence, once the state is HTTP1_BAD. */
int http1_problem(const struct http1 *h, const char **ret_sentence);

#endif
