/* What wakes the agent between scans: the kernel's messages about PCI devices and modules, and
 * files that appear or vanish in the directories of runtimes, kubelets and drivers. All of them are
 * hints. If a kernel or a container sends none, the periodic scan finds the same. */
#ifndef OSTLER_NODE_AGENT_WAKES_H
#define OSTLER_NODE_AGENT_WAKES_H

#include <stdbool.h>

#include "node/inventory/root.h"
#include "node/inventory/text.h"

/* Descriptors that become readable on a hint; -1: not available here. */
struct wakes {
    int uevents;
    int files;
};

void wakes_open(struct wakes *w);
void wakes_close(struct wakes *w);
/* Watches those of the directories that exist now. */
void wakes_watch(struct wakes *w, const struct root *root);
/* Takes all messages; true if one of them is a reason to scan. */
bool wakes_take(struct wakes *w);
/* Whether a kernel message is a reason to scan: it is about a PCI device of a vendor in
 * base/vendor.h, or a module that drives such a device or blocks its driver. */
bool wakes_is_news(struct part message);

#endif
