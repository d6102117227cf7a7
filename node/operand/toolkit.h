/* The toolkit's containers: `ostler-node install-toolkit` has NVIDIA's program install it, `sign-toolkit` says that it is
 * there. */
#ifndef OSTLER_NODE_OPERAND_TOOLKIT_H
#define OSTLER_NODE_OPERAND_TOOLKIT_H

#include <stdint.h>

#include "base/err.h"
#include "node/agent/signs.h"

/* So long the kubelet may take to see that a container runs before the runtime restarts under it. */
enum { TOOLKIT_SEEN_MS = 5000 };

/* Runs the program after `seen_ms`, and is content when the runtime's wrapper is in the folder `to` afterwards. What asks to
 * stop is heeded before the program is started, and not any more then: it would end in the middle of its work, and say that it
 * was done. */
int toolkit_install(const char *to, char *const program[], int64_t seen_ms, struct err *e);
/* Leaves the toolkit's sign (node/agent/signs.h) for this start of the machine and for the driver that is ready, and takes it
 * away when a signal asks to stop: 0. Waits for the driver first, if it has to. */
int toolkit_sign(const struct root *root, enum sign_source source, const char *revision, struct err *e);

#endif
