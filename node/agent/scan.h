/* One scan and the requests that follow from it. Each scan runs in its own process. So the agent
 * survives whatever happens in it, even a driver that hangs, and no client or TLS memory stays
 * between scans. */
#ifndef OSTLER_NODE_AGENT_SCAN_H
#define OSTLER_NODE_AGENT_SCAN_H

#include "node/agent/pace.h"
#include "node/inventory/bus_watch.h"
#include "node/inventory/faults.h"
#include "node/inventory/root.h"

/* All members are borrowed. */
struct scan_options {
    const char *node;       /* name of this node */
    const char *kubeconfig; /* NULL: the other places of config_load() */
    const char *version;
    const struct root *root;
    const char *kernel_log; /* as in kernel_log_read(); NULL: do not read it */
};

/* What the agent remembers between scans; plain data, because it crosses a process boundary. */
struct scan_memory {
    struct faults faults; /* what the kernel log has had, up to now */
    struct bus_watch bus; /* GPUs that the last scan found */
};

/* Scans, reports a change if pace_verdict() says so, and logs the result. It reads the kernel log
 * only until `m->faults` has joined what the GpuNode reports. */
void scan_run(const struct scan_options *o, const struct pace *p, int64_t now_ms,
              struct scan_memory *m, struct scan_outcome *ret);

#endif
