/* Why no useful answer came, in one sentence for people: what, where, what to do. Knows nothing of libcurl. */
#ifndef OSTLER_CLIENT_FAILURE_H
#define OSTLER_CLIENT_FAILURE_H

#include <stdint.h>

#include "base/err.h"
#include "client/config.h"

enum failure_kind {
    FAILURE_RESOLVE,         /* the name has no address */
    FAILURE_CONNECT,         /* refused, unreachable */
    FAILURE_CONNECT_TIMEOUT, /* nobody answered the call */
    FAILURE_TIMEOUT,         /* connected and sent, but no (whole) answer in time */
    FAILURE_SERVER_CERT,     /* we refused the server's certificate */
    FAILURE_OWN_CERT,        /* our certificate or key cannot be used */
    FAILURE_CA,              /* our certificate authority cannot be used */
    FAILURE_TLS,             /* anything else before the first byte */
    FAILURE_PROXY,
    FAILURE_UNAUTHORIZED, /* an answer came, but only to say that it does not know us */
    FAILURE_BROKEN,       /* the connection ended before the answer did */
};

/* What is known of it; everything is borrowed. */
struct failure {
    enum failure_kind kind;
    const char *detail; /* the library's own words */
    long verify_code;   /* why a certificate was refused, as X509_verify_cert() numbers it; 0: unknown */
    int os_errno;       /* 0: unknown */
    int64_t waited_ms;
    int64_t now_us; /* wall clock */
};

/* Sets the error, always -1: TIMEOUT where the outcome is unknown, UNAUTHORIZED or UNREACHABLE else. */
int failure_describe(const struct failure *f, const struct config *c, struct err *e);

#endif
