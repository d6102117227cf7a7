/* The proxy that an API server is reached through: the kubeconfig's own, or that of the environment, as with kubectl. */
#ifndef OSTLER_CLIENT_PROXY_H
#define OSTLER_CLIENT_PROXY_H

#include "client/config.h"

/* Has requests go through the proxy at `url`, which somebody calls `called`. ERR_INVALID for a kind of proxy that we do not
 * speak to. */
int proxy_take(const char *url, const char *called, struct config *c, struct err *e);
/* Takes HTTPS_PROXY and NO_PROXY of the environment where the kubeconfig has no proxy-url. A server on this machine is never
 * reached through them (Go's golang.org/x/net/http/httpproxy, which kubectl goes by). */
int proxy_take_environment(struct config *c, struct err *e);

#endif
