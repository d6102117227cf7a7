/* The result of a scan of a host, and its JSON form, `status.inventory` of a GpuNode (schema in
 * crds/). Every list and text is bounded. Unreadable facts are left out, and their places are
 * listed as unreadable. */
#ifndef OSTLER_NODE_INVENTORY_INVENTORY_H
#define OSTLER_NODE_INVENTORY_INVENTORY_H

#include <jansson.h>

#include "node/inventory/card_health.h"
#include "node/inventory/faults.h"
#include "node/inventory/holders.h"
#include "node/inventory/host_driver.h"
#include "node/inventory/host_toolkit.h"
#include "node/inventory/kubelet.h"
#include "node/inventory/module.h"
#include "node/inventory/os.h"
#include "node/inventory/pci.h"
#include "node/inventory/runtime.h"

/* Zero-initialized = nothing found. */
struct inventory {
    struct view view; /* owns what the other members point to, and has the unreadable places */
    struct os_facts os;
    struct pci_bus bus;
    struct module_facts module;
    enum secure_boot secure_boot;
    struct host_driver driver;
    struct runtimes runtimes;
    struct kubelet kubelet;
    struct host_toolkit toolkit;
    struct holders holders;
    const struct faults *faults; /* of the kernel log; borrowed; NULL: it was not asked for */
    struct card_healths health;
};

#define CLEANUP_INVENTORY CLEANUP(inventory_clear)

/* Scans once. Never fails: the inventory lists what could not be read. */
void inventory_look(const struct root *root, struct inventory *ret);
/* Adds the faults of the kernel log. If it could not be read, the inventory says so instead.
 * Borrowed until inventory_clear(). */
void inventory_add_faults(struct inventory *i, const struct faults *faults);
void inventory_clear(struct inventory *i);
/* New reference. */
json_t *inventory_json(const struct inventory *i);
/* Whether two inventories are equal, so that the second needs no write. Ignores the module's
 * reference count, which changes with every program, but not whether the module is in use. Ignores
 * the times of faults, but not their counts. */
bool inventory_same(const json_t *a, const json_t *b);
/* A hash for comparisons as in inventory_same(). `lasting`: without the holders and without whether
 * GPUs are in use, which change with each job, and without the counts and the order of faults. */
uint64_t inventory_hash(const json_t *inventory, bool lasting);
/* The number of known users of the GPUs; a module in use counts as one more. */
uint64_t inventory_users(const json_t *inventory);
/* The sum of the counts of all faults. */
uint64_t inventory_fault_counts(const json_t *inventory);

#endif
