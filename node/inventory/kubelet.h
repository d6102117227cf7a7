/* Finds the kubelet of a host: its directory, and the runtime that it is configured to use. */
#ifndef OSTLER_NODE_INVENTORY_KUBELET_H
#define OSTLER_NODE_INVENTORY_KUBELET_H

#include "node/inventory/text.h"
#include "node/inventory/view.h"

enum { ENDPOINT_MAX = 127 };

/* Strings are static or from the arena; NULL: not known. */
struct kubelet {
    const char *root; /* its directory on the host: /var/lib/kubelet */
    /* the runtime's socket as configured: "unix:///run/containerd/containerd.sock" */
    const char *endpoint;
};

void kubelet_look(struct view *v, struct kubelet *ret);
/* The runtime's endpoint in a kubelet's configuration or flags; length 0: not given. */
struct part kubelet_endpoint(struct part text);

#endif
