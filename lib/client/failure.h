/* Why a request failed, as one sentence for users: what, where, what to do. It is independent of
 * libcurl. */
#ifndef OSTLER_CLIENT_FAILURE_H
#define OSTLER_CLIENT_FAILURE_H

#include <stdint.h>

#include "base/err.h"
#include "client/config.h"

enum failure_kind {
    FAILURE_RESOLVE,         /* the name has no address */
    FAILURE_CONNECT,         /* refused, unreachable */
    FAILURE_CONNECT_TIMEOUT, /* no response to the connection attempt */
    FAILURE_TIMEOUT,         /* connected and sent, but no (complete) response in time */
    FAILURE_SERVER_CERT,     /* the client rejected the server's certificate */
    FAILURE_OWN_CERT,        /* the client's certificate or key is unusable */
    FAILURE_CA,              /* the configured certificate authority is unusable */
    FAILURE_TLS,             /* any other error before the first byte */
    FAILURE_PROXY,
    FAILURE_UNAUTHORIZED, /* the server rejected the credentials */
    FAILURE_BROKEN,       /* the connection ended before the response did */
};

/* What is known about a failure; all borrowed. */
struct failure {
    enum failure_kind kind;
    const char *detail; /* libcurl's message */
    long verify_code;   /* X509_verify_cert()'s code for a rejected certificate; 0: unknown */
    int os_errno;       /* 0: unknown */
    int64_t waited_ms;
    int64_t now_us; /* wall clock */
};

/* Sets the error; always -1: TIMEOUT if the outcome is unknown, otherwise UNAUTHORIZED or
 * UNREACHABLE. */
int failure_describe(const struct failure *f, const struct config *c, struct err *e);

#endif
