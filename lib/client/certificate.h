/* When a certificate expires: so much of X.509 as a sentence about a refused client certificate needs. Checks nothing. */
#ifndef OSTLER_CLIENT_CERTIFICATE_H
#define OSTLER_CLIENT_CERTIFICATE_H

#include <stddef.h>
#include <stdint.h>

/* The end of the first PEM certificate's validity, microseconds since 1970; -1 when that cannot be read. */
int64_t certificate_expiry(const char *pem, size_t len);

#endif
