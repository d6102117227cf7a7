/* Who has a device of the GPUs' driver open: containers of pods, other containers, and processes
 * of the host. */
#ifndef OSTLER_NODE_INVENTORY_HOLDERS_H
#define OSTLER_NODE_INVENTORY_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "node/inventory/module.h"
#include "node/inventory/view.h"

/* Most that are listed; longest name of a process, as the kernel keeps it; minors that have a bit. */
enum { HOLDERS_MAX = 32, PROCESS_NAME_MAX = 63, MINORS_MAX = 64 };

/* One container, one unit, or the processes of one name that are in neither. Strings from the arena, NULL: none. */
struct holder {
    const char *pod_uid;
    const char *container;
    const char *unit;
    const char *process;  /* name of the one with the lowest number */
    int pid;              /* that number */
    unsigned processes;   /* how many of it hold a device */
    uint64_t minors;      /* bit N: the device file of GPU N is open; none: only shared devices */
};

struct holders {
    struct holder items[HOLDERS_MAX]; /* sorted by whose they are */
    size_t len;
    size_t left_out; /* how many more there are */
    bool known;      /* false: processes could not be looked at at all */
    bool complete;   /* every process was looked at */
};

/* Who has devices of a vendor's driver open. `m` says whether there is a driver to hold. */
void holders_look(const struct view *v, const struct vendor *vendor, const struct module_facts *m,
                  struct holders *ret);
/* Whether an open file has the name of a device of the vendor's driver. Adds the bit of its minor,
 * if it has one, to *minors. */
bool holders_is_device(const struct vendor *vendor, const char *path, uint64_t *minors);

#endif
