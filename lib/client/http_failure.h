/* Translates the error of a failed libcurl transfer. */
#ifndef OSTLER_CLIENT_HTTP_FAILURE_H
#define OSTLER_CLIENT_HTTP_FAILURE_H

#include <curl/curl.h>

#include "client/failure.h"

/* Fills everything but the times from `code`. CURLE_OK means that the server rejected the
 * credentials. */
void http_failure_read(CURL *easy, CURLcode code, struct failure *ret);

#endif
