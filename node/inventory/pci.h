/* GPUs of the vendors in base/vendor.h and their switches on the PCI bus in sysfs, with what a
 * loaded driver reports of each in procfs; also the number of NVIDIA's network cards. */
#ifndef OSTLER_NODE_INVENTORY_PCI_H
#define OSTLER_NODE_INVENTORY_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vendor.h"
#include "node/inventory/root.h"
#include "node/inventory/text.h"
#include "node/inventory/view.h"

/* Where the loaded driver has a directory for each of its GPUs, by address. */
#define PCI_DRIVER_GPUS "proc/driver/nvidia/gpus"

/* Limits: devices of each kind; length of a kernel driver's name. */
enum { PCI_DEVICES_MAX = 64, PCI_DRIVER_MAX = 63 };
/* Longest address that pci_is_address() takes, with its NUL. */
enum { PCI_ADDRESS_MAX = 17 };
/* Limit of MIG devices of one GPU; GPUs have at most seven. */
enum { PCI_MIG_MAX = 16 };

enum bus_state {
    BUS_ANSWERS,   /* on the bus, and responds */
    BUS_SILENT,    /* listed, but every read returns ones: it fell off the bus */
    BUS_SUSPENDED, /* suspended to save power; a read would wake it */
    BUS_GONE,      /* the driver lists it, but the bus does not */
};

/* A part of a GPU that programs use as a GPU. */
struct mig_device {
    const char *profile; /* "1g.10gb" */
    const char *uuid;
};

/* Strings are from the arena; NULL: not known, or none. */
struct pci_device {
    const struct vendor *vendor; /* never NULL */
    const char *address;         /* "0000:65:00.0" */
    const char *device;          /* "2330": four lower case digits; NULL if the GPU is gone */
    const char *driver;          /* the bound kernel driver; NULL: none */
    enum bus_state bus;
    int numa_node; /* -1: none, or not known */
    /* From the driver's procfs files, for GPUs that it drives. */
    const char *product;
    const char *uuid;
    int minor;         /* minor of its device file; -1: not known */
    int mig_instances; /* number of its GPU instances */
    /* From NVML, through the file in nvml.h. */
    int64_t memory_mib;     /* 0: not known */
    struct mig_device *mig; /* NULL: none, or not known */
    size_t mig_count;
};

struct pci_devices {
    struct pci_device *items; /* sorted by address */
    size_t len;
    bool known; /* false: the bus could not be read, so that the number of devices is not known */
};

struct pci_bus {
    struct pci_devices gpus, switches;
    /* functions of NVIDIA (Mellanox) cards; valid if the lists are `known` */
    unsigned network_cards;
};

void pci_look(struct view *v, struct pci_bus *ret);
/* The vendor whose driver the machine needs: the first in base/vendor.h that has a GPU here; NVIDIA
 * if there is no GPU. */
const struct vendor *pci_vendor(const struct pci_devices *gpus);
/* The device with an address, or NULL. */
struct pci_device *pci_find(const struct pci_devices *devices, const char *address);
/* Inserts a device in order; false if the list is full. */
bool pci_add(struct view *v, struct pci_devices *devices, const struct pci_device *device);
/* Whether the text is a PCI address: domain:bus:device.function. */
bool pci_is_address(const char *text);
/* Whether a device that the bus lists responds: one that fell off the bus returns ones for every
 * read. Never reads a suspended one, which that would wake. `ret_why`: the errno if its first bytes
 * could not be read, so that it counts as one that responds; else 0; may be NULL. */
enum bus_state pci_bus_state(const struct root *root, const char *address, int *ret_why);
/* "Answers", …. */
const char *pci_bus_name(enum bus_state state);

/* ---- what a loaded driver reports of its GPUs in procfs: name, UUID, minor of the device node,
 * and number of MIG instances (gpu.c) */

enum { CARD_PRODUCT_MAX = 63, CARD_UUID_MAX = 63 };

/* Adds these facts to `gpus`; a GPU that only the driver lists is added as gone. */
void gpu_read(struct view *v, struct pci_devices *gpus);
/* Parses the text of one GPU; sets product, uuid and minor of *ret if the text has them. */
void gpu_parse(struct arena *a, struct part text, struct pci_device *ret);
#endif
