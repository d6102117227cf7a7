/* What has to leave a machine before a driver container starts there: the container takes out its own modules by itself, but not
 * those that hold them, nor what else drives its GPUs. */
#ifndef OSTLER_NODE_OPERAND_UNLOAD_PLAN_H
#define OSTLER_NODE_OPERAND_UNLOAD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "node/inventory/view.h"

/* Where NVIDIA's container says of which revision the loaded modules are. */
#define UNLOAD_STATE "run/nvidia/nvidia-driver.state"

enum { UNLOAD_MODULES_MAX = 8, UNLOAD_OTHERS_MAX = 3, UNLOAD_DEVICES_MAX = 64 };

/* A GPU that somebody has bound to vfio-pci by hand. */
struct unload_device {
    const char *address; /* "0000:3b:00.0" */
    bool in_use;         /* a virtual machine has it open, or that could not be seen: it stays there */
};

/* Strings from the view's arena, or static. */
struct unload_plan {
    bool keeps; /* the modules of this very revision are loaded: they stay, with all who use them */
    const char *modules[UNLOAD_MODULES_MAX]; /* in the order in which they go */
    size_t module_count;
    const char *others[UNLOAD_OTHERS_MAX]; /* the kernel's own drivers, which go as well, in their order */
    size_t other_count;
    struct unload_device devices[UNLOAD_DEVICES_MAX];
    size_t device_count;
};

/* -1: something uses a module, which the message names (DriverInUse), or it cannot be known. */
int unload_plan_make(const struct view *v, const char *revision, struct unload_plan *ret, struct err *e);

#endif
