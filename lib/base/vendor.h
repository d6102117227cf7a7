/* The GPU vendors that Ostler knows, one row each. Decision code takes PCI ids, resources, node
 * keys, kernel modules and device files only from these rows (scripts/check-layers). The
 * operator and the node agent read the same rows. docs/how-to-add.md says what a new row needs. */
#ifndef OSTLER_BASE_VENDOR_H
#define OSTLER_BASE_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NVIDIA's keys as macros for string literals (reconcilers/model/names.h). */
#define NVIDIA_PREFIX "nvidia.com/"
#define NVIDIA_GPU "nvidia.com/gpu"
#define NVIDIA_MIG "nvidia.com/mig-"

/* The row of NVIDIA. Nodes without any sign of a vendor use it too. */
enum { VENDOR_NVIDIA = 0 };
/* Most entries of a list in a row, including the final NULL or 0. */
enum { VENDOR_LIST_MAX = 8 };

/* A label with which another program marks a node as having a GPU of the vendor. */
struct vendor_sign {
    const char *label;
    const char *value; /* NULL: any value but "false" */
};

/* Every text is static. Lists end with NULL or 0. */
struct vendor {
    const char *name; /* display name: "NVIDIA" */
    const char *word; /* its value in labels of clouds: "nvidia" */
    /* Ostler installs a driver and a device plugin. If false, a node gets only the vendor's
     * label and taint. */
    bool has_operands;

    uint16_t pci;                      /* vendor id on the PCI bus */
    uint16_t classes[VENDOR_LIST_MAX]; /* PCI base class and subclass of its GPUs */
    uint16_t switches;                 /* the same for switches between GPUs; 0: none */

    const char *prefix;   /* of labels and resources: "nvidia.com/" */
    const char *resource; /* a whole GPU; a shared GPU has a name that begins with this */
    const char *partitions[VENDOR_LIST_MAX]; /* prefixes of resources for parts of a GPU */
    const char *present; /* label, "true": the node has such a GPU; written and read */
    const char *taint;   /* taint key of its nodes, unless the policy sets another */
    /* Labels that do not contain `word`; reconcilers/model/detect.c has the labels that do. */
    struct vendor_sign signs[VENDOR_LIST_MAX];

    const char *module;                          /* its kernel module */
    const char *gpu_device;                      /* device file of one GPU, without its number */
    const char *shared_devices[VENDOR_LIST_MAX]; /* prefixes of device files shared by all GPUs */
    const char *majors[VENDOR_LIST_MAX]; /* prefixes of its character devices in /proc/devices */
};

/* In order of precedence: a node with GPUs of two vendors belongs to the first. */
extern const struct vendor vendors[];
extern const size_t vendor_count;
#define EACH_VENDOR(v) for (const struct vendor *v = vendors; v < vendors + vendor_count; v++)

/* The index of a row. */
uint8_t vendor_row(const struct vendor *v);
/* The vendor with a PCI vendor id, or NULL. */
const struct vendor *vendor_of_pci(unsigned id);
/* The vendor of a GPU resource: a whole GPU, a shared one or a part. NULL for other resources;
 * other plugins serve network cards under the same prefix. */
const struct vendor *vendor_of_resource(const char *resource);
/* The vendor whose prefix the key of a label, annotation or resource has, or NULL. */
const struct vendor *vendor_of_key(const char *key);
/* The vendor whose `present` label this is, or NULL. */
const struct vendor *vendor_of_present(const char *label);
/* Whether PCI devices of this class (base class and subclass) are GPUs of the vendor. */
bool vendor_makes_gpus(const struct vendor *v, unsigned class);
/* The text after the prefix of a partition: "1g.10gb". NULL: the resource is not a partition.
 * Borrowed. */
const char *vendor_partition(const struct vendor *v, const char *resource);

#endif
