/* `ostler-node wait`: an init container of pods that need the driver or the toolkit. */
#ifndef OSTLER_NODE_AGENT_WAIT_H
#define OSTLER_NODE_AGENT_WAIT_H

#include <stdint.h>

#include "base/err.h"
#include "node/agent/ready_files.h"

/* Returns 0 when the target is ready. Prints each new reason for waiting on standard error. -1 with
 * ERR_TIMEOUT after `timeout_ms` (0: never), or after a signal to stop. */
int wait_for(const struct root *root, const struct ready_target *wish, int64_t timeout_ms,
             struct err *e);

#endif
