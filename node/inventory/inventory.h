/* What a look at a host gives, all of it, and the form in which it is said: `status.inventory` of a GpuNode (crds/ has its
 * schema). Every list and text of it is bounded. What was not seen is left out, and where it would have been is listed as
 * unreadable. */
#ifndef OSTLER_NODE_INVENTORY_INVENTORY_H
#define OSTLER_NODE_INVENTORY_INVENTORY_H

#include <jansson.h>

#include "node/inventory/holders.h"
#include "node/inventory/host_driver.h"
#include "node/inventory/host_toolkit.h"
#include "node/inventory/kubelet.h"
#include "node/inventory/module.h"
#include "node/inventory/os.h"
#include "node/inventory/pci.h"
#include "node/inventory/runtime.h"

/* Zero-initialised = nothing seen. */
struct inventory {
    struct arena arena; /* all that the others point to */
    struct os_facts os;
    struct pci_bus bus;
    struct module_facts module;
    enum secure_boot secure_boot;
    struct host_driver driver;
    struct runtimes runtimes;
    struct kubelet kubelet;
    struct host_toolkit toolkit;
    struct holders holders;
    struct troubles troubles;
};

#define CLEANUP_INVENTORY CLEANUP(inventory_clear)

/* Looks once. Never fails: what could not be read is in it. */
void inventory_look(const struct root *root, struct inventory *ret);
void inventory_clear(struct inventory *i);
/* New reference. */
json_t *inventory_json(const struct inventory *i);
/* Whether two say the same, so that the second need not be written. The count of references of the module does not count: it
 * changes with every program that runs; whether the module is in use does. */
bool inventory_same(const json_t *a, const json_t *b);
/* The same for both of inventory_same(). `lasting`: without who has a GPU open, and whether somebody has, which is another thing
 * with each job. */
uint64_t inventory_hash(const json_t *inventory, bool lasting);
/* How many use the GPUs, as far as that is seen; a module in use counts as one more. */
uint64_t inventory_users(const json_t *inventory);

#endif
