/* Whether the driver, and the toolkit for it, are ready on this start of the machine, by the signs that they leave themselves:
 *
 *     sys/module/nvidia/refcnt      the module is loaded
 *     run/nvidia/ostler/driver      BOOT REVISION POD       by the driver container's startup probe
 *     run/nvidia/ostler/toolkit     BOOT DRIVER REVISION    by the toolkit's pod; DRIVER is the revision of the driver that it
 *                                                           was installed for, or "host"
 *
 * What an earlier start left says nothing: BOOT has to be that of this one. */
#ifndef OSTLER_NODE_AGENT_SIGNS_H
#define OSTLER_NODE_AGENT_SIGNS_H

#include <stdbool.h>

#include "node/look/root.h"

#define SIGN_OF_DRIVER "run/nvidia/ostler/driver"
/* The same for NVIDIA's own programs beside the driver's: reload_nvidia_peermem waits for it. */
#define SIGN_FOR_NVIDIA "run/nvidia/validations/.driver-ctr-ready"
#define SIGN_OF_TOOLKIT "run/nvidia/ostler/toolkit"
/* The lock of a driver container. */
#define SIGN_LOCK "run/nvidia/nvidia-driver.pid"

enum sign { SIGN_DRIVER, SIGN_TOOLKIT };

/* Whose driver it is. */
enum sign_source {
    SIGN_OF_CONTAINER,
    SIGN_OF_HOST,   /* the host's leaves no sign: the module tells */
    SIGN_OF_EITHER, /* a container's where one has left its lock, run/nvidia/nvidia-driver.pid; else the host's */
};

/* A kernel module beside the driver's. */
enum sign_module { SIGN_MODULE_NONE, SIGN_MODULE_GDRDRV };

/* What is waited for. */
struct sign_wish {
    enum sign sign;
    enum sign_source source;
    const char *revision;    /* of the toolkit; NULL: any */
    const char *pod;         /* the driver's, where it is a container's; NULL: any */
    enum sign_module module; /* is to be loaded as well */
};

enum { SIGN_WORDS = 3, SIGN_WORD_MAX = 128 };

/* The words of a sign, in their order; "" where there are no more. */
struct sign_words {
    char items[SIGN_WORDS][SIGN_WORD_MAX];
};

/* False when there is none, or nothing in it. */
bool sign_read(const struct root *root, const char *path, struct sign_words *ret);
/* The boot id of this start of the machine, in the same way. */
bool sign_read_boot(const struct root *root, struct sign_words *ret);

/* NULL when the module is loaded, or none is wanted, else that it is missing. Static text. */
const char *sign_module_missing(const struct root *root, enum sign_module module);
/* NULL when it is ready, else what is missing. Static text. */
const char *sign_missing(const struct root *root, const struct sign_wish *wish);

#endif
