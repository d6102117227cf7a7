/* Signs on nodes and pods that a node has a GPU, or that another GPU stack already serves it.
 * Tables with one row for each sign; decide/ decides what follows. */
#ifndef OSTLER_RECONCILERS_MODEL_DETECT_H
#define OSTLER_RECONCILERS_MODEL_DETECT_H

#include <stdbool.h>

#include "base/vendor.h"
#include "reconcilers/model/host.h"
#include "reconcilers/model/operand.h"

/* What a row inspects. */
enum sign_place {
    SIGN_LABEL,    /* label `key` has value `value`; NULL: any value except "false" */
    SIGN_OS_IMAGE, /* osImage starts with `key` and contains `value` (NULL: not checked) */
    SIGN_IMAGE,    /* the image of a container contains `key` */
    /* As SIGN_LABEL, and a container serves GPUs to resource claims; it may use Ostler's driver in
     * pools without Ostler's device plugin. */
    SIGN_CLAIMS,
};

/* One sign and what it means. */
struct sign {
    enum sign_place place;
    const char *key;
    const char *value;
    const char
        *sentence; /* for users, without a full stop: "GKE installs the driver here (label ...)" */
    const char *remedy; /* how to hand the node over, an imperative; NULL: remove what is named */
    enum operand
        like; /* the operand of Ostler that a pod does the same as; OPERAND_NONE: not a pod */
};

/* The vendor of a GPU of the node that is not reserved for virtual machines; NULL: none. Order: the
 * agent's inventory, labels that name a vendor, the vendors' own signs. Allocatable resources are
 * not labels: the caller checks them last. */
const struct vendor *detect_gpu(const struct node_facts *facts);
/* Whether a GPU detector has inspected this node: Ostler's agent or Node Feature Discovery runs
 * there, or a sign of detect_gpu() is present. If no node has been inspected, "no GPUs" proves
 * nothing. */
bool detect_looked_at(const struct node_facts *facts);
/* The sign that something other than Ostler installs driver and device plugin on this node; NULL:
 * none. */
const struct sign *detect_foreign_node(const struct node_facts *facts);
/* The sign that a pod is another operator's driver or device plugin; NULL: none. `image` and
 * `container` belong to one of its containers; NULL: check only the labels. Do not call this for
 * Ostler's own pods. */
const struct sign *detect_foreign_pod(selector_lookup_fn *label, const void *labels,
                                      const char *image, const char *container);
/* The sign that another program publishes the node's GPUs in ResourceSlices (model/foreign.h). */
const struct sign *detect_slices(void);
/* Whether the termination message of the driver pod's first init container reports a host
 * driver. */
bool detect_host_driver(const char *termination_message);

/* Longest label of detect_pci_label(), including the NUL. */
enum { PCI_LABEL_MAX = 64 };
/* The Node Feature Discovery label, with value "true", for a PCI device of this vendor and class
 * (base class and subclass; 0: any class). */
void detect_pci_label(const struct vendor *v, unsigned class, char ret[static PCI_LABEL_MAX]);

#endif
