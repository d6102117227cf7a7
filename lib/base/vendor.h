/* The vendors of GPUs that Ostler knows, one row each. PCI ids, resources, keys of nodes, kernel
 * modules and device files of a vendor are in its row and nowhere else in code that decides
 * (scripts/check-layers); the operator and the node agent read the same row. docs/development.md
 * says what a new row needs. */
#ifndef OSTLER_BASE_VENDOR_H
#define OSTLER_BASE_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NVIDIA's keys, for string literals (reconcilers/model/names.h). */
#define NVIDIA_PREFIX "nvidia.com/"
#define NVIDIA_GPU "nvidia.com/gpu"
#define NVIDIA_MIG "nvidia.com/mig-"

/* The row of NVIDIA. It is also the row of a node of which nothing names a vendor. */
enum { VENDOR_NVIDIA = 0 };
/* Most entries of a list in a row, with the NULL or 0 that ends it. */
enum { VENDOR_LIST_MAX = 8 };

/* A label by which another program says that a node has a GPU of the vendor. */
struct vendor_sign {
    const char *label;
    const char *value; /* NULL: any value but "false" */
};

/* Every text is static. Lists end with NULL or 0. */
struct vendor {
    const char *name; /* for people: "NVIDIA" */
    const char *word; /* the value that clouds' labels have for it: "nvidia" */
    /* Ostler brings a driver and a device plugin for its GPUs. Where it does not, a node gets
     * the vendor's label and taint alone. */
    bool has_operands;

    uint16_t pci;                      /* vendor id on the PCI bus */
    uint16_t classes[VENDOR_LIST_MAX]; /* base class and subclass of its GPUs */
    uint16_t switches;                 /* the same of the switches between GPUs; 0: none */

    const char *prefix;   /* of labels and resources: "nvidia.com/" */
    const char *resource; /* a whole GPU; a shared one has a name that begins so */
    const char *partitions[VENDOR_LIST_MAX]; /* prefixes of resources that are parts of a GPU */
    const char *present; /* label, "true": the node has such a GPU; written and read */
    const char *taint;   /* key of the taint of its nodes, unless the policy has another key */
    /* Labels that name no vendor's word; reconcilers/model/detect.c has those that do. */
    struct vendor_sign signs[VENDOR_LIST_MAX];

    const char *module;     /* its kernel module */
    const char *gpu_device; /* device file of one GPU, without the number at its end */
    const char *shared_devices[VENDOR_LIST_MAX]; /* prefixes of device files of no single GPU */
    const char *majors[VENDOR_LIST_MAX]; /* prefixes of its character devices in /proc/devices */
};

/* In order of precedence: a node with GPUs of two vendors belongs to the first one. */
extern const struct vendor vendors[];
extern const size_t vendor_count;
#define EACH_VENDOR(v) for (const struct vendor *v = vendors; v < vendors + vendor_count; v++)

/* The index of a row. */
uint8_t vendor_row(const struct vendor *v);
/* The vendor with a PCI vendor id, or NULL. */
const struct vendor *vendor_of_pci(unsigned id);
/* The vendor of whose GPUs a resource is, whole, shared or in parts. NULL: it is no GPU; other
 * plugins serve network cards under the same prefix. */
const struct vendor *vendor_of_resource(const char *resource);
/* The vendor whose prefix a key of a label, an annotation or a resource has, or NULL. */
const struct vendor *vendor_of_key(const char *key);
/* The vendor whose `present` a label is, or NULL. */
const struct vendor *vendor_of_present(const char *label);
/* Whether PCI devices of this class (base class and subclass) are GPUs of the vendor. */
bool vendor_makes_gpus(const struct vendor *v, unsigned class);
/* What follows the prefix of a partition: "1g.10gb". Borrowed. NULL: the resource is none. */
const char *vendor_partition(const struct vendor *v, const char *resource);

#endif
