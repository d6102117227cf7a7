/* What the fleet page lets in, and the heads of its answers. Pure. */
#ifndef OSTLER_SERVE_PAGE_GATE_H
#define OSTLER_SERVE_PAGE_GATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "serve/http1.h"

/* The status that refuses a request, with one sentence; 0: it is let in. `hosts` as in
 * hosts_allow(). */
int page_gate(const struct http1_request *r, const char *hosts, const char **ret_sentence);
/* Whether the value of If-None-Match (NULL: absent) has an ETag. */
bool page_tag_matches(const char *if_none_match, const char *tag);

/* The head of an answer. */
struct page_head {
    int status;
    const char *type; /* NULL: no body */
    const char *tag;  /* of its ETag; "": none */
    size_t len;       /* of the body */
    bool endless;     /* the body ends with the connection */
    bool kept;        /* the browser may keep it for five minutes */
};
void page_print_head(const struct page_head *h, struct buf *out);

#endif
