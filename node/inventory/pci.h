/* GPUs of the vendors in base/vendor.h and switches between them on the PCI bus, as sysfs shows
 * them, with what a loaded driver says of each in procfs; and the number of NVIDIA's network
 * cards. */
#ifndef OSTLER_NODE_INVENTORY_PCI_H
#define OSTLER_NODE_INVENTORY_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vendor.h"
#include "node/inventory/view.h"

/* Most of either that are taken; longest name of a kernel driver. */
enum { PCI_DEVICES_MAX = 64, PCI_DRIVER_MAX = 63 };
/* Most MIG devices of one card that are taken: seven is what cards can be divided into. */
enum { PCI_MIG_MAX = 16 };

/* name, as it is shown */
#define BUS_STATES(X)                                                                                                            \
    X(ANSWERS, "Answers")     /* it is on the bus and answers */                                                                 \
    X(SILENT, "Silent")       /* it is listed, and every read gives ones: it has fallen off the bus */                           \
    X(SUSPENDED, "Suspended") /* it sleeps to save power; looking at it would wake it */                                         \
    X(GONE, "Gone")           /* the driver knows it, and the bus does not list it any more */

enum bus_state {
#define X(name, text) BUS_##name,
    BUS_STATES(X)
#undef X
};

/* A part of a card that programs use as a GPU. */
struct mig_device {
    const char *profile; /* "1g.10gb" */
    const char *uuid;
};

/* Strings from the arena; NULL is unknown, or none. */
struct pci_device {
    const struct vendor *vendor; /* never NULL */
    const char *address;  /* "0000:65:00.0" */
    const char *device;   /* "2330": four lower case digits; NULL for one that is gone */
    const char *driver;   /* the kernel driver that is bound to it; NULL: none */
    enum bus_state bus;
    int numa_node;        /* -1: none, or not known */
    /* Of GPUs that a driver serves, as it says itself in procfs. */
    const char *product;
    const char *uuid;
    int minor;            /* the number of its device file; -1: not known */
    int mig_instances;    /* GPU instances that it is divided into */
    /* As NVML says, which somebody else has asked (nvml.h). */
    int64_t memory_mib;   /* 0: not known */
    struct mig_device *mig; /* NULL: none, or not known */
    size_t mig_count;
};

struct pci_devices {
    struct pci_device *items; /* by address */
    size_t len;
    bool known; /* false: the bus could not be read, so that nothing is known of how many there are */
};

/* What is on the bus. */
struct pci_bus {
    struct pci_devices gpus, switches;
    unsigned network_cards; /* of NVIDIA (Mellanox), their functions; as known as the others */
};

/* Looks at the bus. */
void pci_look(const struct view *v, struct pci_bus *ret);
/* The vendor whose driver the machine needs: the first one in base/vendor.h with a GPU there;
 * NVIDIA without any GPU. */
const struct vendor *pci_vendor(const struct pci_devices *gpus);
/* The device with an address, or NULL. */
struct pci_device *pci_find(const struct pci_devices *devices, const char *address);
/* Adds one in its place; false when there are as many as are taken. */
bool pci_add(const struct view *v, struct pci_devices *devices, const struct pci_device *device);
/* Whether it is an address on a PCI bus: domain:bus:device.function. */
bool pci_is_address(const char *text);
/* "Answers", …. */
const char *pci_bus_name(enum bus_state state);

#endif
