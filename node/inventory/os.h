/* Finds the machine's model, operating system, kernel and boot id; parses os-release, the file that
 * names the operating system. */
#ifndef OSTLER_NODE_INVENTORY_OS_H
#define OSTLER_NODE_INVENTORY_OS_H

#include "node/inventory/text.h"
#include "node/inventory/view.h"

enum { KERNEL_MAX = 63, BOOT_ID_MAX = 36, MACHINE_MAX = 63, OS_WORD_MAX = 63, OS_NAME_MAX = 127 };

/* Strings are from the arena; NULL: not given. */
struct os_release {
    const char *id;      /* ID: "ubuntu" */
    const char *version; /* VERSION_ID: "24.04" */
    const char *variant; /* VARIANT_ID: "coreos", "aws-k8s-1.32-nvidia" */
    const char *name;    /* PRETTY_NAME */
};

void os_release_parse(struct arena *a, struct part text, struct os_release *ret);

/* Strings are from the arena; NULL: not known. */
struct os_facts {
    struct os_release release;
    const char *machine; /* the model name that the firmware reports */
    const char *kernel;  /* as `uname -r` */
    const char *boot_id; /* changes with each boot */
};

/* Only the contents of the os-release file. */
void os_look_release(struct view *v, struct os_release *ret);
/* Only the kernel release, as `uname -r`, from the arena; NULL: not known. */
const char *os_look_kernel(struct view *v);
void os_look(struct view *v, struct os_facts *ret);

#endif
