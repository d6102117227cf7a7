/* Machine, operating system, kernel, and which start of the machine this is. */
#ifndef OSTLER_NODE_INVENTORY_OS_H
#define OSTLER_NODE_INVENTORY_OS_H

#include "node/inventory/os_release.h"
#include "node/inventory/view.h"

enum { KERNEL_MAX = 63, BOOT_ID_MAX = 36, MACHINE_MAX = 63 };

/* Strings from the arena; NULL: not known. */
struct os_facts {
    struct os_release release;
    const char *machine; /* what its maker calls it, as the firmware says */
    const char *kernel;  /* as `uname -r` */
    const char *boot_id; /* another one after each start of the machine */
};

/* The first alone: what it says in its file of that name. */
void os_look_release(const struct view *v, struct os_release *ret);
/* The kernel alone, as `uname -r`, from the arena; NULL: not known. */
const char *os_look_kernel(const struct view *v);
void os_look(const struct view *v, struct os_facts *ret);

#endif
