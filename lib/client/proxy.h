/* The proxy to the API server: the kubeconfig's, or the environment's, as in kubectl. */
#ifndef OSTLER_CLIENT_PROXY_H
#define OSTLER_CLIENT_PROXY_H

#include "client/endpoint.h"

/* Sets *ret, an owned text, to the proxy `url`; messages name its source `called`. ERR_INVALID for
 * an unsupported kind of proxy. */
int proxy_take(const char *url, const char *called, char **ret, struct err *e);
/* Uses HTTPS_PROXY of the environment if *ret is NULL: the kubeconfig has no proxy-url. A server on
 * this machine or in NO_PROXY gets no proxy (the rules of Go's golang.org/x/net/http/httpproxy, as
 * in kubectl). */
int proxy_take_environment(const struct endpoint *server, char **ret, struct err *e);
/* Whether `list` names the server: "*", or a comma-separated list of networks ("10.0.0.0/8") and
 * hosts, each with or without a port. "10.1.2.3" is one host, "name" includes its subdomains,
 * ".name" and "*.name" are only the subdomains. */
bool proxy_is_excepted(const char *list, const struct endpoint *server);

#endif
