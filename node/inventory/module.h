/* Which kernel modules drive the GPUs now, and whether the kernel takes unsigned ones. */
#ifndef OSTLER_NODE_INVENTORY_MODULE_H
#define OSTLER_NODE_INVENTORY_MODULE_H

#include <stdbool.h>

#include "base/vendor.h"
#include "node/inventory/modules.h"
#include "node/inventory/view.h"

/* Longest version, and most modules that are listed beside the driver itself. */
enum { MODULE_VERSION_MAX = 63, MODULE_NAME_MAX = 63, MODULE_DEPENDENTS_MAX = 16 };

/* Strings from the arena. */
struct module_facts {
    bool known;    /* false: the list of modules could not be read */
    bool loaded;   /* the vendor's module, and it works */
    bool nouveau;  /* that one is loaded */
    const char *version;  /* NULL: not known */
    enum driver_flavour flavour;
    int64_t references;   /* -1: not counted */
    bool in_use;   /* more than modules uses it, or one on top of it: it cannot be taken out */
    bool in_tree;  /* it came with the kernel */
    bool is_unsigned; /* the kernel says that nobody whom it trusts has signed it */
    const char *dependents[MODULE_DEPENDENTS_MAX]; /* modules on top of it: nvidia_uvm, …, by name */
    size_t dependent_count;
};

enum secure_boot { SECURE_BOOT_UNKNOWN, SECURE_BOOT_OFF, SECURE_BOOT_ON };

/* Looks for the module of a vendor. */
void module_look(const struct view *v, const struct vendor *vendor, struct module_facts *ret);
/* What the firmware says. */
enum secure_boot secure_boot_look(const struct view *v);

#endif
