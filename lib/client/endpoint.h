/* The API server's address, parsed and checked. */
#ifndef OSTLER_CLIENT_ENDPOINT_H
#define OSTLER_CLIENT_ENDPOINT_H

#include <stdbool.h>

#include "base/err.h"

/* All strings are owned. */
struct endpoint {
    bool tls;
    char *host; /* a name or an address, IPv6 without brackets */
    int port;
    char *url;       /* "https://[::1]:6443", without a path */
    char *base_path; /* "/prefix" before every path, or "" */
};

/* Parses the `server` of a kubeconfig. http:// is allowed only for loopback, where other hosts
 * cannot listen in. */
int endpoint_parse(const char *text, struct endpoint *ret, struct err *e);
/* From a pod's two environment variables. */
int endpoint_of_service(const char *host, const char *port, struct endpoint *ret, struct err *e);
/* "https://name:port" for a name other than the host's own. Owned by the caller. */
char *endpoint_url_with_host(const struct endpoint *ep, const char *host);
/* Whether the server is on this machine. */
bool endpoint_is_loopback(const struct endpoint *ep);
/* Frees the strings. */
void endpoint_clear(struct endpoint *ep);

#endif
