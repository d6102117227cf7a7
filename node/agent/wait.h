/* `ostler-node wait`: an init container of those who need the driver or the toolkit. */
#ifndef OSTLER_NODE_AGENT_WAIT_H
#define OSTLER_NODE_AGENT_WAIT_H

#include <stdint.h>

#include "base/err.h"
#include "node/agent/ready_files.h"

/* Returns when it is ready: 0. Tells on standard error what is missing, whenever that is something else. -1 with ERR_TIMEOUT
 * after `timeout_ms` (0: never), or when a signal asks to stop. */
int wait_for(const struct root *root, const struct ready_target *wish, int64_t timeout_ms, struct err *e);

#endif
