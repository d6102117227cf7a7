/* What wakes the agent between its looks: the kernel's messages about PCI devices and modules, and names that come and go in the
 * folders where runtimes, kubelets and drivers leave their signs. All of it is a hint: where a kernel or a container gives none,
 * the slow look finds the same. */
#ifndef OSTLER_NODE_AGENT_WAKES_H
#define OSTLER_NODE_AGENT_WAKES_H

#include <stdbool.h>

#include "node/inventory/root.h"
#include "node/inventory/text.h"

/* Descriptors that are readable when there is news; -1: there is no such thing here. */
struct wakes {
    int uevents;
    int files;
};

void wakes_open(struct wakes *w);
void wakes_close(struct wakes *w);
/* Watches the folders that are there by now. */
void wakes_watch(struct wakes *w, const struct root *root);
/* Takes all messages of one of the descriptors; whether one of them is a reason to look. */
bool wakes_take_uevents(struct wakes *w);
bool wakes_take_files(struct wakes *w);
/* Whether a message of the kernel is about a PCI device of a vendor in base/vendor.h, or about a
 * module that drives one or keeps it from being driven. */
bool wakes_is_news(struct part message);

#endif
