/* Finds the holders of GPUs: containers of pods, other containers, and host processes that have a
 * device of the driver open. */
#ifndef OSTLER_NODE_INVENTORY_HOLDERS_H
#define OSTLER_NODE_INVENTORY_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "node/inventory/module.h"
#include "node/inventory/view.h"

/* Limits: listed holders; length of a process name, as the kernel keeps it; minors that have a
 * bit. */
enum { HOLDERS_MAX = 32, PROCESS_NAME_MAX = 63, MINORS_MAX = 64 };

/* One container, one unit, or all processes of one name outside both. Strings are from the arena;
 * NULL: none. */
struct holder {
    const char *pod_uid;
    const char *container;
    const char *unit;
    const char *process; /* name of the process with the lowest pid */
    int pid;             /* the lowest pid */
    unsigned processes;  /* number of its processes that hold a device */
    uint64_t minors;     /* bit N: the device file of GPU N is open; 0: only shared devices are */
};

struct holders {
    struct holder items[HOLDERS_MAX]; /* sorted by owner */
    size_t len;
    size_t left_out; /* number of holders beyond the limit */
    bool known;      /* false: processes could not be inspected */
    bool complete;   /* every process was inspected */
};

/* Finds the holders of a vendor's devices. `m` says whether a driver is loaded. */
void holders_look(struct view *v, const struct vendor *vendor, const struct module_facts *m,
                  struct holders *ret);
/* Whether an open file has the name of a device of the vendor's driver. Adds the bit of its minor,
 * if it has one, to *minors. */
bool holders_is_device(const struct vendor *vendor, const char *path, uint64_t *minors);

#endif
