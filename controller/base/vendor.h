/* The vendors of GPUs that Ostler knows, one row each. Ids on the PCI bus, resources, keys of nodes, kernel modules and
 * device files of a vendor stand here and nowhere else in what decides: the operator and the node agent go by the same row.
 * docs/development.md says what a new row needs. */
#ifndef OSTLER_BASE_VENDOR_H
#define OSTLER_BASE_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NVIDIA's keys, for texts that the compiler puts together (reconcilers/model/names.h). */
#define NVIDIA_PREFIX "nvidia.com/"
#define NVIDIA_GPU NVIDIA_PREFIX "gpu"
#define NVIDIA_MIG NVIDIA_PREFIX "mig-"

/* The row of NVIDIA, whose operands Ostler brings. A row number of 0 also means: nothing names the vendor. */
enum { VENDOR_NVIDIA = 0 };
/* Most entries of a list in a row, with the NULL or 0 that ends it. */
enum { VENDOR_LIST_MAX = 8 };

/* A label by which another program says that a node has a GPU of the vendor. */
struct vendor_sign {
    const char *label;
    const char *value; /* NULL: any but "false" */
};

/* All texts are static. Lists end with NULL or 0. */
struct vendor {
    const char *name;   /* for people: "NVIDIA" */
    const char *word;   /* as labels of clouds name it: "nvidia" */
    bool has_operands;  /* Ostler brings its driver and device plugin; otherwise a node gets labels and taint alone */

    uint16_t pci;                      /* its id on the PCI bus */
    uint16_t classes[VENDOR_LIST_MAX]; /* base class and subclass of its GPUs there */
    uint16_t switches;                 /* the same of the switches between its GPUs; 0: it has none */

    const char *prefix;     /* of its labels and resources: "nvidia.com/" */
    const char *resource;   /* a GPU; names that begin so are GPUs, too: "nvidia.com/gpu.shared" */
    const char *partitions[VENDOR_LIST_MAX]; /* how resources begin that are a part of a GPU; the kind follows */
    const char *present;    /* the label, "true", that says that a node has such a GPU; Ostler writes and reads it */
    const char *taint;      /* key of the taint of its nodes, where the policy names no key of its own */
    struct vendor_sign signs[VENDOR_LIST_MAX]; /* beside those that all vendors have (reconcilers/model/detect.c) */

    const char *module;     /* its kernel module */
    const char *gpu_device; /* device file of one GPU; a number follows */
    const char *shared_devices[VENDOR_LIST_MAX]; /* how device files begin that belong to no single GPU */
    const char *majors[VENDOR_LIST_MAX]; /* how the names of its character devices begin in /proc/devices */
};

/* In the order in which they are looked for: a node with GPUs of two vendors is the first one's. */
extern const struct vendor vendors[];
extern const size_t vendor_count;
#define EACH_VENDOR(v) for (const struct vendor *v = vendors; v < vendors + vendor_count; v++)

/* Its number in the table. */
uint8_t vendor_row(const struct vendor *v);
/* The vendor with this id on the PCI bus, or NULL. */
const struct vendor *vendor_of_pci(unsigned id);
/* The vendor of whose GPUs a resource is, whole, shared or in parts; NULL: it is no GPU. Other plugins serve network cards
 * under the same prefix. */
const struct vendor *vendor_of_resource(const char *resource);
/* The vendor under whose prefix a key of a label, an annotation or a resource is, or NULL. */
const struct vendor *vendor_of_key(const char *key);
/* The vendor of whose GPUs this label says that they are present, or NULL. */
const struct vendor *vendor_of_present(const char *label);
/* Whether devices of this class (base class and subclass) are GPUs of the vendor. */
bool vendor_makes_gpus(const struct vendor *v, unsigned class);
/* The kind of partition that a resource is, "1g.10gb", a part of its text; NULL: it is none. */
const char *vendor_partition(const struct vendor *v, const char *resource);

#endif
