#include "serve/page_gate.h"

#include <string.h>

#include "base/str.h"
#include "serve/hosts.h"
#include "serve/status_text.h"

/* A link on another site may open the page, which tells that site nothing. It may not do anything
 * else: neither load a part nor be a frame's or a script's target. */
static bool is_opened(const struct http1_request *r)
{
    return str_eq(r->headers[HTTP1_SEC_FETCH_MODE], "navigate") &&
           str_eq(r->headers[HTTP1_SEC_FETCH_DEST], "document") && str_eq(r->target, "/");
}

/* Browsers send it always, curl never. */
static bool is_foreign(const struct http1_request *r)
{
    const char *site = r->headers[HTTP1_SEC_FETCH_SITE];
    return site && !str_eq(site, "same-origin") && !str_eq(site, "none") && !is_opened(r);
}

int page_gate(const struct http1_request *r, const char *hosts, const char **ret_sentence)
{
    if (!hosts_allow(r->headers[HTTP1_HOST], hosts)) {
        *ret_sentence = "this page answers only to localhost, 127.0.0.1, [::1] and the names in "
                        "--fleet-hosts";
        return 421;
    }
    if (is_foreign(r)) {
        *ret_sentence = "another site's page may not read this one";
        return 403;
    }
    if (!str_eq(r->method, "GET") && !str_eq(r->method, "HEAD")) {
        *ret_sentence = "only GET and HEAD are served";
        return 405;
    }
    if (r->body_len > 0) {
        *ret_sentence = "a request must not have a body";
        return 400;
    }
    return 0;
}

bool page_tag_matches(const char *if_none_match, const char *tag)
{
    CLEANUP_FREE char *quoted = xasprintf("\"%s\"", tag);
    return if_none_match && *tag && strstr(if_none_match, quoted);
}

#define CONTENT_POLICY                                                                             \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "          \
    "require-trusted-types-for 'script'; trusted-types 'none'"

void page_print_head(const struct page_head *h, struct buf *out)
{
    buf_printf(out,
               "HTTP/1.1 %d %s\r\n"
               "server: ostler\r\n"
               "connection: close\r\n"
               "content-security-policy: " CONTENT_POLICY "\r\n"
               "x-content-type-options: nosniff\r\n"
               "x-frame-options: DENY\r\n"
               "referrer-policy: no-referrer\r\n"
               "cross-origin-opener-policy: same-origin\r\n"
               "cross-origin-resource-policy: same-origin\r\n"
               "cache-control: %s\r\n",
               h->status, status_text(h->status), h->kept ? "max-age=300" : "no-store");
    if (*h->tag)
        buf_printf(out, "etag: \"%s\"\r\n", h->tag);
    if (h->status == 405)
        buf_str(out, "allow: GET, HEAD\r\n");
    if (h->type)
        buf_printf(out, "content-type: %s\r\n", h->type);
    if (h->type && !h->endless)
        buf_printf(out, "content-length: %zu\r\n", h->len);
    buf_str(out, "\r\n");
}
