/* `ostler-node run`: the process on each node. It waits; looks are made by processes of their own, one at a time. */
#ifndef OSTLER_NODE_AGENT_AGENT_H
#define OSTLER_NODE_AGENT_AGENT_H

#include "base/err.h"
#include "node/agent/scan.h"

/* Runs until it is told to stop by a signal: 0. -1: it cannot begin. */
int node_agent_run(const struct scan_options *o, struct err *e);

#endif
