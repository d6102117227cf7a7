/* Creates a server certificate for this machine at each start, so that no secret is stored. */
#ifndef OSTLER_SIM_SERVE_CERTIFICATE_H
#define OSTLER_SIM_SERVE_CERTIFICATE_H

#include "base/err.h"

/* PEM texts; the certificate is self-signed. */
struct certificate {
    char *certificate;
    char *key;
};

/* Creates an EC key (P-256) and a certificate for "localhost", 127.0.0.1 and an IP address (ignored
 * if it is not one), valid for a week. */
int certificate_make(const char *ip, struct certificate *ret, struct err *e);
void certificate_clear(struct certificate *c);
/* `bytes` random bytes in hexadecimal, as a bearer token. Owned by the caller. */
char *certificate_token(int bytes);

#endif
