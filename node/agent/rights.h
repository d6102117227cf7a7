/* What the agent may do on its machine. Kubernetes gives capabilities to root alone; and root owns most of what can be written
 * below proc, sys and run, and may connect to the sockets of container runtimes. To look needs none of that. */
#ifndef OSTLER_NODE_AGENT_RIGHTS_H
#define OSTLER_NODE_AGENT_RIGHTS_H

#include "base/err.h"

/* Root becomes nobody in particular, for good, and keeps of its capabilities those to look: CAP_SYS_PTRACE and
 * CAP_DAC_READ_SEARCH. It needs CAP_SETUID and CAP_SETGID for that. Whoever is not root stays as it is. -1: it is root still. */
int rights_lessen(struct err *e);

#endif
