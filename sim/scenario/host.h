/* Describes machines of scenarios by an agent's inventory of such a machine, from tests/roots. */
#ifndef OSTLER_SIM_SCENARIO_HOST_H
#define OSTLER_SIM_SCENARIO_HOST_H

#include <jansson.h>

#include "base/err.h"

/* Replaces `host` of each shape, a path relative to `file`, with the inventory in that file. Fills
 * missing keys of the shape from it: osImage, osID, osVersion, kernel, hostDriver and gpus.
 * ERR_INVALID: it cannot be read. */
int hosts_read(const char *file, json_t *root, struct err *e);

#endif
