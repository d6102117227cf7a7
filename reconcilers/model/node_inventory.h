/* The part of an agent's inventory that decisions use, from `status.inventory` of a GpuNode. Any
 * client with the permission may have written it. A value that is absent, or that no agent writes,
 * counts as not known. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_INVENTORY_H
#define OSTLER_RECONCILERS_MODEL_NODE_INVENTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/model/gpu_heard.h"
#include "reconcilers/model/host_kind.h"

/* Consecutive scans without a GPU before Ostler believes that there is none: during a bus rescan
 * the GPUs disappear for a moment. */
enum { INVENTORY_ABSENT_LOOKS = 3 };
/* Longest version, address and name that are kept, including the NUL. */
enum { INVENTORY_VERSION_MAX = 24, INVENTORY_ADDRESS_MAX = 17, INVENTORY_NAME_MAX = 64 };
/* More GPUs than an agent lists; of how many the addresses are kept. */
enum { INVENTORY_GPUS_MAX = 64, INVENTORY_ADDRESSES_MAX = 16 };

/* Zero-initialised: nothing is known. */
struct node_inventory {
    /* When the agent last reported a change, epoch seconds; 0: not known. Comparisons ignore it. */
    uint32_t said_s;
    uint64_t boot;     /* str_hash_id() of the boot that the report is about; 0: not known */
    bool gpus_known;   /* the bus was scanned; otherwise the counts below are 0 */
    uint8_t vendor;    /* row in base/vendor.h of the GPUs counted below; 0 without GPUs */
    uint8_t gpus;      /* GPUs on the bus that respond or sleep */
    uint8_t lost;      /* GPUs that fell off the bus, or were removed while the driver used them */
    uint8_t driven;    /* of `gpus`, bound to the vendor's module */
    uint8_t nouveau;   /* of `gpus`, bound to nouveau */
    uint8_t passed_on; /* of `gpus`, bound to vfio-pci for virtual machines */
    uint8_t divided;   /* of `driven`, divided into MIG instances */
    uint8_t alike;     /* of `driven`, of the same product as the first */
    bool many_kinds;   /* their slices have several profiles */
    uint32_t memory_mib; /* of the first of `driven` whose memory is known; 0: not known */
    /* Of the first of `driven` whose product the driver reports, or "". */
    char product[INVENTORY_NAME_MAX];
    char slice[INVENTORY_VERSION_MAX]; /* profile of their first slice: "1g.10gb"; "": not known */
    char machine[INVENTORY_NAME_MAX];  /* machine name by its manufacturer, or "" */
    uint8_t absent_looks;              /* number of consecutive scans that found none */
    /* PCI addresses of the GPUs that are not passed on, packed: read them with
     * node_inventory_address(). */
    uint32_t addresses[INVENTORY_ADDRESSES_MAX];
    char lost_address[INVENTORY_ADDRESS_MAX]; /* of the first of `lost`, or "" */
    bool google_driver;                       /* `host_driver` lies in GOOGLE_DRIVER_DIR */
    bool module_loaded, driver_container, host_driver, secure_boot;
    char module_version[INVENTORY_VERSION_MAX]; /* of the loaded module, or "" */
    enum host_runtime runtime;           /* the kubelet's runtime; RUNTIME_UNKNOWN: not known */
    enum host_distribution distribution; /* distribution of that kubelet */
    enum host_toolkit host_toolkit;      /* the host's own toolkit */
    char toolkit_version[INVENTORY_VERSION_MAX]; /* of the host's toolkit, or "" */
    /* Kubelet root directory if it differs from the default of `distribution`, or "". */
    char kubelet_root[INVENTORY_NAME_MAX];
    bool no_handler;      /* its configuration was read: no handler `nvidia` of the host's own */
    bool no_network_card; /* the bus was scanned and has no network card of NVIDIA (Mellanox) */
    /* The agent looked for runtimes and does not know the one that the kubelet uses. */
    bool runtime_missing;
    bool health_listed;     /* NVML reports about GPUs: the list `health` is there */
    struct gpu_heard heard; /* of which GPUs NVML reports what */
    bool faults_listed;     /* the agent reads the kernel log: the list `faults` is there */
};

/* Reads an inventory; NULL: nothing is known, because the agent has not reported. Owned by the
 * caller. */
struct node_inventory *node_inventory_read(const json_t *inventory);
/* The address of a GPU, "0000:65:00.0"; false: there are no more. */
bool node_inventory_address(const struct node_inventory *i, size_t gpu,
                            char ret[static INVENTORY_ADDRESS_MAX]);
/* Whether all fields that decisions use are equal; NULL: no report. */
bool node_inventory_same(const struct node_inventory *a, const struct node_inventory *b);
/* Whether it shows that there is no GPU: enough scans of the bus found none. */
bool node_inventory_shows_none(const struct node_inventory *i);

#endif
