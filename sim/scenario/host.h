/* Machines of scenarios that are described by what Ostler's agent has found on such a machine: an inventory of tests/roots. */
#ifndef OSTLER_SIM_SCENARIO_HOST_H
#define OSTLER_SIM_SCENARIO_HOST_H

#include <jansson.h>

#include "base/err.h"

/* Replaces `host` of each shape, the path of an inventory as from the folder of `file`, by what stands there, and takes from it
 * what the shape does not say: osImage, osID, osVersion, kernel, hostDriver and gpus. ERR_INVALID: it cannot be read. */
int hosts_read(const char *file, json_t *root, struct err *e);

#endif
