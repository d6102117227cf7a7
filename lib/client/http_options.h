/* How libcurl is told what a request and a configuration mean: every option of a transfer that does not call back. */
#ifndef OSTLER_CLIENT_HTTP_OPTIONS_H
#define OSTLER_CLIENT_HTTP_OPTIONS_H

#include <curl/curl.h>

#include "client/config.h"
#include "kube/request.h"

/* Lists that a handle borrows while it lives. Zero-initialised = none. */
struct http_lists {
    struct curl_slist *headers;
    struct curl_slist *connect_to;
};

/* A new handle for the request; its body is borrowed too, everything else is copied. */
CURL *http_options_new(const struct config *c, const struct request *r, struct http_lists *lists);
/* Frees the lists, after the handle that borrows them. */
void http_lists_clear(struct http_lists *lists);

#endif
