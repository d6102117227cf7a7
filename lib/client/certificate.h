/* The expiry of a certificate, for a message about a rejected client certificate. It verifies
 * nothing. */
#ifndef OSTLER_CLIENT_CERTIFICATE_H
#define OSTLER_CLIENT_CERTIFICATE_H

#include <stddef.h>
#include <stdint.h>

/* The end of the first PEM certificate's validity, in microseconds since 1970; -1 if it cannot
 * be parsed. */
int64_t certificate_expiry(const char *pem, size_t len);

#endif
