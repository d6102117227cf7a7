/* Checks whether the driver, and the toolkit for it, are ready on this boot, by their ready files.
 * Paths and contents:
 *
 *     sys/module/nvidia/refcnt      the module is loaded
 *     run/nvidia/ostler/driver      BOOT REVISION POD       by the driver container's startup probe
 *     run/nvidia/ostler/toolkit     BOOT DRIVER REVISION    by the toolkit's pod; DRIVER is the
 *                                                           revision of the driver that it was
 *                                                           installed for, or "host"
 *
 * A file counts only if its BOOT is the current boot id. */
#ifndef OSTLER_NODE_AGENT_READY_FILES_H
#define OSTLER_NODE_AGENT_READY_FILES_H

#include <stdbool.h>

#include "node/inventory/root.h"

#define READY_FILE_OF_DRIVER "run/nvidia/ostler/driver"
/* The same for NVIDIA's programs in the driver's pod: reload_nvidia_peermem waits for it. */
#define READY_FILE_OF_NVIDIA "run/nvidia/validations/.driver-ctr-ready"
#define READY_FILE_OF_TOOLKIT "run/nvidia/ostler/toolkit"
/* It exists if the module is loaded, also if it is built into the kernel. */
#define READY_MODULE_FILE "sys/module/nvidia/refcnt"
/* The lock file of a driver container. */
#define DRIVER_LOCK_FILE "run/nvidia/nvidia-driver.pid"

enum ready_part { READY_DRIVER, READY_TOOLKIT };

/* Where the driver comes from. */
enum ready_source {
    READY_OF_CONTAINER,
    READY_OF_HOST,   /* a host driver writes no ready file: the loaded module counts */
    READY_OF_EITHER, /* a container's if DRIVER_LOCK_FILE exists, else the host's */
};

/* A kernel module that must be loaded. */
enum ready_module { READY_MODULE_NVIDIA, READY_MODULE_GDRDRV };

/* What a caller waits for. */
struct ready_target {
    enum ready_part sign;
    enum ready_source source;
    const char *revision;     /* of the toolkit; NULL: any */
    const char *pod;          /* of a driver container; NULL: any */
    enum ready_module module; /* must be loaded, beside the driver's own */
};

enum { READY_WORDS = 3, READY_WORD_MAX = 128 };

/* The words of a ready file in order; missing words are "". */
struct ready_words {
    char items[READY_WORDS][READY_WORD_MAX];
};

/* False if the file is missing or empty. */
bool ready_file_read(const struct root *root, const char *path, struct ready_words *ret);
/* Reads the boot id of this boot, as ready_file_read() does. */
bool boot_id_read(const struct root *root, struct ready_words *ret);

/* NULL if the module is loaded, else a static text that says what is missing. */
const char *ready_module_missing(const struct root *root, enum ready_module module);
/* NULL if the target is ready, else a static text that says what is missing. */
const char *ready_file_missing(const struct root *root, const struct ready_target *wish);

#endif
