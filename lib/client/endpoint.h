/* The address of the API server, taken apart and checked. */
#ifndef OSTLER_CLIENT_ENDPOINT_H
#define OSTLER_CLIENT_ENDPOINT_H

#include <stdbool.h>

#include "base/err.h"

/* All strings are owned. */
struct endpoint {
    bool tls;
    char *host;      /* a name or an address, IPv6 without its brackets */
    int port;
    char *url;       /* "https://[::1]:6443", without the path */
    char *base_path; /* "/prefix" that goes before every path, or "" */
};

/* From the `server` of a kubeconfig. http:// is for loopback only: there is nobody to listen in. */
int endpoint_parse(const char *text, struct endpoint *ret, struct err *e);
/* From the two environment variables of a pod. */
int endpoint_of_service(const char *host, const char *port, struct endpoint *ret, struct err *e);
/* "https://name:port" for a name other than the host's own. Owned by the caller. */
char *endpoint_url_with_host(const struct endpoint *ep, const char *host);
/* Whether the server is on this machine. */
bool endpoint_is_loopback(const struct endpoint *ep);
/* Frees the strings. */
void endpoint_clear(struct endpoint *ep);

#endif
