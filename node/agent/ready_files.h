/* Whether the driver, and the toolkit for it, are ready on this start of the machine, by the signs that they leave themselves:
 *
 *     sys/module/nvidia/refcnt      the module is loaded
 *     run/nvidia/ostler/driver      BOOT REVISION POD       by the driver container's startup probe
 *     run/nvidia/ostler/toolkit     BOOT DRIVER REVISION    by the toolkit's pod; DRIVER is the revision of the driver that it
 *                                                           was installed for, or "host"
 *
 * What an earlier start left says nothing: BOOT has to be that of this one. */
#ifndef OSTLER_NODE_AGENT_READY_FILES_H
#define OSTLER_NODE_AGENT_READY_FILES_H

#include <stdbool.h>

#include "node/inventory/root.h"

#define READY_FILE_OF_DRIVER "run/nvidia/ostler/driver"
/* The same for NVIDIA's own programs beside the driver's: reload_nvidia_peermem waits for it. */
#define READY_FILE_OF_NVIDIA "run/nvidia/validations/.driver-ctr-ready"
#define READY_FILE_OF_TOOLKIT "run/nvidia/ostler/toolkit"
/* The lock of a driver container. */
#define DRIVER_LOCK_FILE "run/nvidia/nvidia-driver.pid"

enum ready_part { READY_DRIVER, READY_TOOLKIT };

/* Whose driver it is. */
enum ready_source {
    READY_OF_CONTAINER,
    READY_OF_HOST,   /* the host's leaves no sign: the module tells */
    READY_OF_EITHER, /* a container's where one has left its lock, run/nvidia/nvidia-driver.pid; else the host's */
};

/* A kernel module beside the driver's. */
enum ready_module { READY_MODULE_NONE, READY_MODULE_GDRDRV };

/* What is waited for. */
struct ready_target {
    enum ready_part sign;
    enum ready_source source;
    const char *revision;    /* of the toolkit; NULL: any */
    const char *pod;         /* the driver's, where it is a container's; NULL: any */
    enum ready_module module; /* is to be loaded as well */
};

enum { READY_WORDS = 3, READY_WORD_MAX = 128 };

/* The words of a sign, in their order; "" where there are no more. */
struct ready_words {
    char items[READY_WORDS][READY_WORD_MAX];
};

/* False when there is none, or nothing in it. */
bool ready_file_read(const struct root *root, const char *path, struct ready_words *ret);
/* The boot id of this start of the machine, in the same way. */
bool boot_id_read(const struct root *root, struct ready_words *ret);

/* NULL when the module is loaded, or none is wanted, else that it is missing. Static text. */
const char *ready_module_missing(const struct root *root, enum ready_module module);
/* NULL when it is ready, else what is missing. Static text. */
const char *ready_file_missing(const struct root *root, const struct ready_target *wish);

#endif
