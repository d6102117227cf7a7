/* Which kernel modules drive the GPUs now, and whether the kernel accepts unsigned modules. Parsers
 * for the kernel's list of modules (proc/modules), the version text of NVIDIA's driver
 * (proc/driver/nvidia/version), and device numbers (proc/devices). */
#ifndef OSTLER_NODE_INVENTORY_MODULE_H
#define OSTLER_NODE_INVENTORY_MODULE_H

#include <stdbool.h>

#include "base/vendor.h"
#include "node/inventory/text.h"
#include "node/inventory/view.h"

/* One line of proc/modules; parts of the text. */
struct module_line {
    struct part name;
    int64_t references; /* -1: the kernel does not count them */
    struct part users;  /* "nvidia_uvm,nvidia_modeset,", or "-" */
    bool loading;       /* the module is being loaded or unloaded, and does not work */
    struct part taints; /* "POE"; length 0: none */
};

/* The next valid line; false at the end. */
bool modules_next(struct part *text, struct module_line *ret);
/* The number of modules in `users`. */
int64_t module_user_count(const struct module_line *m);
/* The next name in `users`; pass a copy of it. False at the end. */
bool module_next_user(struct part *users, struct part *name);

enum driver_flavour { FLAVOUR_UNKNOWN, FLAVOUR_OPEN, FLAVOUR_PROPRIETARY };

struct driver_version {
    enum driver_flavour flavour;
    struct part version; /* "580.178.04"; length 0: not given */
};

/* False if the text is not that of NVIDIA's driver. */
bool driver_version_parse(struct part text, struct driver_version *ret);

/* NVIDIA's modules use about ten names for their character devices; several share a number. */
enum { DRIVER_MAJORS_MAX = 16 };

struct driver_majors {
    int items[DRIVER_MAJORS_MAX];
    size_t len;
};

/* The major numbers of a vendor's character devices, each once, as many as fit. */
void driver_majors_parse(struct part text, const struct vendor *vendor, struct driver_majors *ret);
bool driver_majors_has(const struct driver_majors *m, int major);

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

void module_look(struct view *v, const struct vendor *vendor, struct module_facts *ret);
enum secure_boot secure_boot_look(struct view *v);

#endif
