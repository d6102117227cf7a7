/* The kubelet of a host: its folder, and which runtime it is told to use. */
#ifndef OSTLER_NODE_INVENTORY_KUBELET_H
#define OSTLER_NODE_INVENTORY_KUBELET_H

#include "node/inventory/text.h"
#include "node/inventory/view.h"

enum { ENDPOINT_MAX = 127 };

/* Strings are static or from the arena; NULL: not known. */
struct kubelet {
    const char *root;     /* its folder on the host: /var/lib/kubelet */
    const char *endpoint; /* the runtime's socket as its configuration names it: "unix:///run/containerd/containerd.sock" */
};

void kubelet_look(const struct view *v, struct kubelet *ret);
/* The runtime's endpoint in a kubelet's configuration or among its flags; of length 0: it does not say. */
struct part kubelet_endpoint(struct part text);

#endif
