/* What the agent on a node has seen of it, as far as decisions look at it: a small part of `status.inventory` of its GpuNode,
 * which an agent wrote, or whoever had the right. What is absent there, or no value that an agent writes, is not known. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_INVENTORY_H
#define OSTLER_RECONCILERS_MODEL_NODE_INVENTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/model/host.h"

/* Looks in a row that found no GPU before it is believed: a bus that is being looked through anew shows none for a moment. */
enum { INVENTORY_ABSENT_LOOKS = 3 };
/* Longest version and address with their NUL that are kept. */
enum { INVENTORY_VERSION_MAX = 24, INVENTORY_ADDRESS_MAX = 17, INVENTORY_NAME_MAX = 64 };
/* More GPUs than an agent lists. */
enum { INVENTORY_GPUS_MAX = 64 };

/* Zero-initialised = nothing is known. */
struct node_inventory {
    uint32_t said_s;    /* when the agent last said something else, seconds of the epoch; 0: not known. Two that differ in it are
                         * the same */
    uint64_t boot;      /* inventory_boot() of the start that it is of; 0: not known */
    bool gpus_known;    /* the bus was looked at; otherwise the counts below are 0 */
    uint8_t vendor;     /* row in base/vendor.h: whose GPUs are counted below; 0 without any */
    uint8_t gpus;       /* GPUs that are on the bus and answer, or sleep */
    uint8_t lost;       /* those that have fallen off it, or were taken away under the driver */
    uint8_t driven;     /* of `gpus`, bound to the vendor's module */
    uint8_t nouveau;    /* of `gpus`, bound to nouveau */
    uint8_t passed_on;  /* of `gpus`, bound to vfio-pci: they are for virtual machines */
    uint8_t divided;    /* of `driven`, divided into MIG instances */
    uint8_t alike;      /* of `driven`, of the product of the first */
    bool many_kinds;    /* their slices are of several profiles */
    uint32_t memory_mib; /* of the first of `driven` of which somebody says it; 0: not known */
    char product[INVENTORY_NAME_MAX]; /* of the first of `driven` of which the driver says it, or "" */
    char slice[INVENTORY_VERSION_MAX]; /* profile of the first of their slices: "1g.10gb"; "": not known */
    char machine[INVENTORY_NAME_MAX]; /* what its maker calls the machine, or "" */
    uint8_t absent_looks; /* how many looks in a row found none */
    char lost_address[INVENTORY_ADDRESS_MAX]; /* of the first of `lost`, or "" */
    bool google_driver; /* `host_driver` lies in GOOGLE_DRIVER_DIR */
    bool module_loaded, driver_container, host_driver, secure_boot;
    char module_version[INVENTORY_VERSION_MAX]; /* that is loaded, or "" */
    enum host_runtime runtime;            /* that the kubelet uses, RUNTIME_UNKNOWN: not known */
    enum host_distribution distribution;  /* of that */
    enum host_toolkit host_toolkit; /* that the host itself has */
    char toolkit_version[INVENTORY_VERSION_MAX]; /* of that, or "" */
    char kubelet_root[INVENTORY_NAME_MAX]; /* the kubelet's folder where it is not that of `distribution`, or "" */
    bool no_handler; /* its configuration was read, and names no handler `nvidia` of the host's own */
    bool no_network_card; /* the bus was looked at, and there is none of NVIDIA (Mellanox) on it */
    bool runtime_missing; /* it looked for runtimes, and the one that the kubelet uses is none of those that it knows */
};

/* What an inventory says; NULL: nothing is known, as of an agent that is silent. Owned by the caller. */
struct node_inventory *node_inventory_read(const json_t *inventory);
/* Whether nothing that anybody looks at differs; NULL is silence. */
bool node_inventory_same(const struct node_inventory *a, const struct node_inventory *b);
/* A start of a machine by its id, in short; 0 for NULL and "", which is none. */
uint64_t inventory_boot(const char *id);
/* Whether it says that there is no GPU: it looked at the bus often enough, and nothing was on it. */
bool node_inventory_shows_none(const struct node_inventory *i);

#endif
