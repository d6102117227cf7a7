#ifndef OSTLER_BASE_CRI_SOCKET_H
#define OSTLER_BASE_CRI_SOCKET_H

/* The socket of the container runtime behind a kubelet's endpoint, by the path under which it is listed in an inventory: /var/run
 * is a link, and docker's kubelets talk to it through another program. NULL gives NULL. Borrowed. */
const char *cri_socket(const char *endpoint);

#endif
