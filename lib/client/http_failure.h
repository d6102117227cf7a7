/* What libcurl says of a transfer that failed, in our own terms. */
#ifndef OSTLER_CLIENT_HTTP_FAILURE_H
#define OSTLER_CLIENT_HTTP_FAILURE_H

#include <curl/curl.h>

#include "client/failure.h"

/* How a transfer ended with `code`: everything but the times. CURLE_OK stands for an answer that does not know us. */
void http_failure_read(CURL *easy, CURLcode code, struct failure *ret);

#endif
