/* Which kernel modules drive the GPUs now, and whether the kernel accepts unsigned modules. */
#ifndef OSTLER_NODE_INVENTORY_MODULE_H
#define OSTLER_NODE_INVENTORY_MODULE_H

#include <stdbool.h>

#include "base/vendor.h"
#include "node/inventory/modules.h"
#include "node/inventory/view.h"

/* Longest version and name, and most listed modules that depend on the driver's. */
enum { MODULE_VERSION_MAX = 63, MODULE_NAME_MAX = 63, MODULE_DEPENDENTS_MAX = 16 };

/* Strings from the arena. */
struct module_facts {
    bool known;          /* false: the list of modules could not be read */
    bool loaded;         /* the vendor's module is loaded and works */
    bool nouveau;        /* nouveau is loaded */
    const char *version; /* NULL: not known */
    enum driver_flavour flavour;
    int64_t references; /* -1: not counted */
    /* something other than modules uses it or a dependent module, so that it cannot be unloaded */
    bool in_use;
    bool in_tree;     /* it is part of the kernel's source tree */
    bool is_unsigned; /* the kernel found no trusted signature */
    /* modules that depend on it: nvidia_uvm, …, by name */
    const char *dependents[MODULE_DEPENDENTS_MAX];
    size_t dependent_count;
};

enum secure_boot { SECURE_BOOT_UNKNOWN, SECURE_BOOT_OFF, SECURE_BOOT_ON };

void module_look(const struct view *v, const struct vendor *vendor, struct module_facts *ret);
enum secure_boot secure_boot_look(const struct view *v);

#endif
