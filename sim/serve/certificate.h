/* A certificate for a server on this machine, made anew at each start: nothing secret is kept anywhere. */
#ifndef OSTLER_SIM_SERVE_CERTIFICATE_H
#define OSTLER_SIM_SERVE_CERTIFICATE_H

#include "base/err.h"

/* PEM texts; the certificate is its own authority. */
struct certificate {
    char *certificate;
    char *key;
};

/* An EC key (P-256) and a certificate for "localhost", 127.0.0.1 and an IP address (other text is left out), good for a week. */
int certificate_make(const char *ip, struct certificate *ret, struct err *e);
/* Frees both texts. */
void certificate_clear(struct certificate *c);
/* `bytes` random bytes in hexadecimal, as a bearer token. Owned by the caller. */
char *certificate_token(int bytes);

#endif
