/* The proxy that an API server is reached through: the kubeconfig's own, or that of the environment, as with kubectl. */
#ifndef OSTLER_CLIENT_PROXY_H
#define OSTLER_CLIENT_PROXY_H

#include "client/config.h"

/* Has requests go through the proxy at `url`, which somebody calls `called`. ERR_INVALID for a kind of proxy that we do not
 * speak to. */
int proxy_take(const char *url, const char *called, struct config *c, struct err *e);
/* Takes HTTPS_PROXY of the environment where the kubeconfig has no proxy-url, but for a server on this machine and one that
 * NO_PROXY names (Go's golang.org/x/net/http/httpproxy, which kubectl goes by). */
int proxy_take_environment(struct config *c, struct err *e);
/* Whether `list` names the server: "*", or, with commas, hosts ("10.1.2.3", "name", which is all below it, too, ".name" and
 * "*.name", which are all below it alone), each with a port or without, and networks ("10.0.0.0/8"). */
bool proxy_is_excepted(const char *list, const struct endpoint *server);

#endif
