/* Decisions from the agent's report: that a node has no GPU, that the host has its own driver, and
 * why GPUs do not work. Without a report, nothing is decided. */
#ifndef OSTLER_RECONCILERS_DECIDE_INVENTORY_H
#define OSTLER_RECONCILERS_DECIDE_INVENTORY_H

#include "reconcilers/decide/node_types.h"

/* Whether an agent that is up reports no GPU since this boot, and the kubelet offers none. This
 * overrides labels, which are older or come from a writer that has not scanned the bus. */
bool inventory_has_no_gpu(const struct node_input *in);
/* Whether Ostler's toolkit has been installed there as far as Ostler can see, so that the host's
 * own toolkit does not count. Evidence: its pod has come that far, or the node was validated with
 * it, taken out of service with it, or is being freed of it. */
bool inventory_has_own_toolkit(const struct node_input *in);
/* Whether the host has its own driver: an annotation remembers it, the driver pod found it, or the
 * agent reports it. The agent's report counts only if Ostler has sent no driver there: an installed
 * package does not change a node in service. */
bool node_host_driver(const struct node_input *in, const struct node_facts *facts);
/* Whether the agent's report is from this boot of the machine. */
bool inventory_is_since_boot(const struct node_input *in);
/* Whether nothing is to be waited for from the node's agent: it has reported since the boot, or no
 * agent will. */
bool inventory_is_told(const struct node_input *in);
/* The version of the loaded module in the agent's report; "": not known. A report from before the
 * current driver started is about the previous driver, so it does not count. */
const char *inventory_driver_version(const struct node_input *in);
/* Replaces the verdict's reason why the assigned driver does not come up by the one that the
 * agent's report gives, if any. */
void inventory_explain_driver(const struct node_pass *p);
/* Adds to the verdict of an unclaimed node what keeps its driver from coming up, or what is wrong
 * with its GPUs. The rest of the verdict must be complete. */
void inventory_explain(const struct node_pass *p);
/* How many GPUs the kubelet should offer, bad ones among them, but none that is gone from the bus
 * or has no driver; 0: not known, or they are divided or shared. */
unsigned inventory_whole_gpus(const struct node_input *in);

#endif
