/* Plans which modules must be unloaded before a driver container starts. The container unloads its
 * own modules, but not modules that depend on them or other drivers of its GPUs. */
#ifndef OSTLER_NODE_OPERAND_UNLOAD_PLAN_H
#define OSTLER_NODE_OPERAND_UNLOAD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "node/inventory/view.h"

/* The file in which NVIDIA's container records the revision of the loaded modules. */
#define UNLOAD_STATE "run/nvidia/nvidia-driver.state"

enum { UNLOAD_MODULES_MAX = 8, UNLOAD_OTHERS_MAX = 3, UNLOAD_DEVICES_MAX = 64 };

/* A GPU that an admin has bound to vfio-pci by hand. */
struct unload_device {
    const char *address; /* "0000:3b:00.0" */
    bool in_use;         /* a virtual machine has it open, or that is not known: it stays bound */
};

/* Strings are from the view's arena or static. */
struct unload_plan {
    bool keeps; /* the modules of this revision are loaded: they and their users stay */
    const char *modules[UNLOAD_MODULES_MAX]; /* in unloading order */
    size_t module_count;
    const char *others[UNLOAD_OTHERS_MAX]; /* the kernel's own drivers to unload, in order */
    size_t other_count;
    struct unload_device devices[UNLOAD_DEVICES_MAX];
    size_t device_count;
};

/* -1: something that the message names uses a module (DriverInUse), or that is not known. */
int unload_plan_make(struct view *v, const char *revision, struct unload_plan *ret, struct err *e);

#endif
