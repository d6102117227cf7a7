/* Finds the machine's model, operating system, kernel and boot id. */
#ifndef OSTLER_NODE_INVENTORY_OS_H
#define OSTLER_NODE_INVENTORY_OS_H

#include "node/inventory/os_release.h"
#include "node/inventory/view.h"

enum { KERNEL_MAX = 63, BOOT_ID_MAX = 36, MACHINE_MAX = 63 };

/* Strings are from the arena; NULL: not known. */
struct os_facts {
    struct os_release release;
    const char *machine; /* the model name that the firmware reports */
    const char *kernel;  /* as `uname -r` */
    const char *boot_id; /* changes with each boot */
};

/* Only the contents of the os-release file. */
void os_look_release(const struct view *v, struct os_release *ret);
/* Only the kernel release, as `uname -r`, from the arena; NULL: not known. */
const char *os_look_kernel(const struct view *v);
void os_look(const struct view *v, struct os_facts *ret);

#endif
