#ifndef OSTLER_BASE_CRI_SOCKET_H
#define OSTLER_BASE_CRI_SOCKET_H

/* The socket of the container runtime for a kubelet's endpoint, by the path that the inventory
 * lists: /var/run is a link, and kubelets with Docker reach it through another program. NULL
 * gives NULL. Borrowed. */
const char *cri_socket(const char *endpoint);

#endif
