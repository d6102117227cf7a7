/* Limits the agent's permissions on its machine. Kubernetes grants capabilities only to root. But
 * root owns most writable files below proc, sys and run, and may connect to the sockets of
 * container runtimes. Scans need none of that. */
#ifndef OSTLER_NODE_AGENT_RIGHTS_H
#define OSTLER_NODE_AGENT_RIGHTS_H

#include <stdbool.h>

#include "base/err.h"

/* Changes root to an unused user for good and keeps only CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH,
 * and with `kernel_log` also CAP_SYSLOG. Needs CAP_SETUID and CAP_SETGID. Does nothing if the
 * process is not root. -1: the process is still root. */
int rights_lessen(bool kernel_log, struct err *e);
/* Whether the process has CAP_SYSLOG. */
bool rights_have_syslog(void);

#endif
