/* `ostler-node run`: the agent process on each node, which starts one child process at a time for
 * each scan. */
#ifndef OSTLER_NODE_AGENT_AGENT_H
#define OSTLER_NODE_AGENT_AGENT_H

#include "base/err.h"
#include "node/agent/scan.h"

/* Returns 0 after a signal stopped it, -1 if it cannot start. */
int node_agent_run(const struct scan_options *o, struct err *e);

#endif
