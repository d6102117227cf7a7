/* Recognizes Ostler's own process that asks NVML for a moment once a minute: it is no holder of a
 * GPU that a driver waits for. */
#ifndef OSTLER_NODE_INVENTORY_NVML_PROCESS_H
#define OSTLER_NODE_INVENTORY_NVML_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "node/inventory/text.h"
#include "node/inventory/view.h"

#define NVML_PROCESS "ostler-nvml"

/* An older process with that name hangs, or is another one. */
enum { NVML_PROCESS_MAX_S = 90 };

/* Whether a process with this name is that one. Any process can have that name: then it is hidden
 * for this long, and for ever if a new one replaces it each time. It is hidden only from the list
 * of holders, not from the module's reference count, which keeps the driver loaded. */
bool nvml_process_is(struct view *v, int pid, struct part name);
/* Seconds since the start of a process, from the texts of proc/PID/stat and proc/uptime; -1: not
 * known. `ticks`: clock ticks per second. */
int64_t nvml_process_age_s(struct part stat, struct part uptime, int64_t ticks);

#endif
