/* What the agent on a node has seen, where it decides something: that there is no GPU any more, that the host has a driver of its
 * own, and why GPUs do not work. An agent that is silent decides nothing. */
#ifndef OSTLER_RECONCILERS_DECIDE_INVENTORY_H
#define OSTLER_RECONCILERS_DECIDE_INVENTORY_H

#include "reconcilers/decide/node_plan.h"

/* An agent that is there and up says that this machine, since it started, has no GPU, and the kubelet has none to give either:
 * what labels say was said earlier, or by somebody who has not looked. */
bool inventory_has_no_gpu(const struct node_input *in);
/* Ostler's toolkit has been installed there, as far as one can see, so that what the host had counts for nothing: its pod has
 * come that far, or the node was proven with it, was taken out of service with it, or is being freed of it. */
bool inventory_has_own_toolkit(const struct node_input *in);
/* The host has a driver of its own: it is remembered, the driver pod found it, or the agent sees it. The agent's word counts only
 * where no driver of Ostler's has been sent: a node that serves is not changed since somebody installed a package. */
bool node_host_driver(const struct node_input *in, const struct node_facts *facts);
/* Whether what the agent says is of this start of the machine. */
bool inventory_is_since_boot(const struct node_input *in);
/* The version of the module that the agent sees loaded; "": it does not know. What it said before the driver that is there had
 * come is of the one before: it may have said nothing since. */
const char *inventory_driver_version(const struct node_input *in);
/* Why the driver that a node is given does not come up, as far as the agent sees it, beginning with
 * the word for it; NULL: it sees nothing that explains it. From the arena. */
const char *inventory_why_no_driver(const struct node_input *in, struct arena *a, const struct node_verdict *v,
                               enum reason *ret_reason);
/* Says of a node that is not claimed what keeps its driver from coming up, or what is wrong with GPUs of a node that is up
 * otherwise. The verdict is complete but for that. */
void inventory_explain(const struct node_input *in, struct arena *a, struct node_verdict *v);

#endif
