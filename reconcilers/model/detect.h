/* Signs on nodes and pods: that a node has a GPU, and that somebody else already looks after it.
 * Tables with one row per sign; what follows from a sign is decided in plan/. */
#ifndef OSTLER_RECONCILERS_MODEL_DETECT_H
#define OSTLER_RECONCILERS_MODEL_DETECT_H

#include <stdbool.h>

#include "base/vendor.h"
#include "reconcilers/model/host.h"

/* Where a row looks. */
enum sign_place {
    SIGN_LABEL,    /* the label `key` has the value `value`; NULL: any value but "false" */
    SIGN_OS_IMAGE, /* osImage starts with `key` and contains `value` (NULL: need not) */
    SIGN_IMAGE,    /* a container's image contains `key` */
    SIGN_CLAIMS,   /* as SIGN_LABEL, and a container gives GPUs to resource claims: those of Ostler's driver, where Ostler brings
                      no device plugin */
};

/* One sign and what it means. */
struct sign {
    enum sign_place place;
    const char *key;
    const char *value;
    const char
        *sentence; /* for people, without a full stop: "GKE installs the driver here (label ...)" */
    const char *remedy; /* how the node is handed over, as an order; NULL: what the sentence names has to go */
};

/* The vendor of whom the node has a GPU that is not for virtual machines, or NULL. The inventory of
 * the agent there counts before labels that name a vendor, and those before the vendors' own signs.
 * Allocatable resources are not labels: the caller looks at them last. */
const struct vendor *detect_gpu(const struct node_facts *facts);
/* Whether anything that finds GPUs has looked at this node: Ostler's agent or Node Feature Discovery
 * runs there, or a sign of detect_gpu() is there. Where no node of a cluster has been looked at, no GPUs means
 * nothing. */
bool detect_looked_at(const struct node_facts *facts);
/* The sign that somebody else installs driver and device plugin on this node, or NULL. */
const struct sign *detect_foreign_node(const struct node_facts *facts);
/* The sign that a pod is another operator's driver or device plugin, or NULL. `image` and `container` are those of
 * one of its containers, or NULL when only the labels are to be asked. Pods of ours are not to be
 * asked. */
const struct sign *detect_foreign_pod(selector_lookup_fn *label, const void *labels, const char *image, const char *container);
/* What it means that somebody publishes the node's GPUs in ResourceSlices (model/slice.h). */
const struct sign *detect_slices(void);
/* Whether a termination message of the driver pod's first init container says that the host has a
 * driver of its own. */
bool detect_host_driver(const char *termination_message);

/* Longest label of detect_pci_label() with its NUL. */
enum { PCI_LABEL_MAX = 64 };
/* The label, "true", by which Node Feature Discovery says that a PCI device of the vendor is there,
 * of a class (base class and subclass; 0: of any). */
void detect_pci_label(const struct vendor *v, unsigned class, char ret[static PCI_LABEL_MAX]);

#endif
