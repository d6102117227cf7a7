/* Where the API server's address and the client's credentials come from: the pod's environment or a
 * kubeconfig, read once. */
#ifndef OSTLER_CLIENT_CONFIG_LOAD_H
#define OSTLER_CLIENT_CONFIG_LOAD_H

#include "client/config.h"

/* Loads `kubeconfig` (the option; NULL: not given), else the files of $KUBECONFIG, else the
 * pod's own credentials, else ~/.kube/config. A kubeconfig's server is reached through the
 * environment's proxy, a pod's never. `context` replaces the kubeconfig's current context (NULL:
 * keep it) and rules out the pod's credentials. On error *ret is unchanged or empty. */
int config_load(const char *kubeconfig, const char *context, struct config *ret, struct err *e);
/* Loads a pod's service account from `dir` and the environment that the kubelet sets. */
int config_load_in_cluster(const char *dir, struct config *ret, struct err *e);

#endif
