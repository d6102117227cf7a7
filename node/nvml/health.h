/* What the library reports of the health of one GPU. */
#ifndef OSTLER_NODE_NVML_HEALTH_H
#define OSTLER_NODE_NVML_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

/* Longest line, with its NUL. */
enum { HEALTH_LINE_MAX = 256 };

/* Writes the line "health ADDRESS KEY=VALUE …" of node/inventory/nvml.h. `result` is that of the
 * call that returned the handle. False: the library knows nothing of that GPU. */
bool health_describe(const char *address, int result, void *device,
                     char ret[static HEALTH_LINE_MAX]);

#endif
