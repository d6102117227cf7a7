/* One look, and the requests that follow from it. It is made in a process of its own, which ends with it: whatever a host does to
 * it, a driver that hangs included, the agent lives on, and between looks nothing of a client or of TLS stays in memory. */
#ifndef OSTLER_NODE_AGENT_SCAN_H
#define OSTLER_NODE_AGENT_SCAN_H

#include "node/agent/pace.h"
#include "node/inventory/root.h"

/* All is borrowed. */
struct scan_options {
    const char *node;       /* the name of this one */
    const char *kubeconfig; /* NULL: where config_load() looks else */
    const char *version;
    const struct root *root;
};

/* Looks, says what is new as pace_verdict() has it, and logs what came of it. */
void scan_run(const struct scan_options *o, const struct pace *p, int64_t now_ms, struct scan_outcome *ret);

#endif
