#ifndef OSTLER_BASE_CRI_SOCKET_H
#define OSTLER_BASE_CRI_SOCKET_H

/* The socket of the container runtime for a kubelet's endpoint, by its path in an inventory.
 * /var/run is a link, and kubelets with Docker use another program's socket. NULL gives NULL.
 * Borrowed. */
const char *cri_socket(const char *endpoint);

#endif
