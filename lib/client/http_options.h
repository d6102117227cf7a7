/* Translates a request and a configuration to libcurl's options, except for callbacks. */
#ifndef OSTLER_CLIENT_HTTP_OPTIONS_H
#define OSTLER_CLIENT_HTTP_OPTIONS_H

#include <curl/curl.h>

#include "client/config.h"
#include "kube/request.h"

/* Lists that a handle borrows. Zero-initialised = none. */
struct http_lists {
    struct curl_slist *headers;
    struct curl_slist *connect_to;
};

/* A new handle for the request; it borrows the body and copies everything else. */
CURL *http_options_new(const struct config *c, const struct request *r, struct http_lists *lists);
/* Frees the lists; free the handle first. */
void http_lists_clear(struct http_lists *lists);

#endif
