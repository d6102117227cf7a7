/* Opens paths below a directory as if it were the root: absolute links start there and ".." stops
 * there, so that nothing outside is reached. The kernel does that (openat2, Linux 5.6). If it
 * cannot, or a seccomp profile blocks the call, this code follows the links itself. */
#ifndef OSTLER_NODE_INVENTORY_RESOLVE_H
#define OSTLER_NODE_INVENTORY_RESOLVE_H

#include <stdbool.h>

/* Opens a path below the directory with O_PATH, which has no effect on devices or FIFOs. `follow`:
 * also follow a link at the end. Returns the descriptor, or -1 with errno. */
int resolve(int folder, const char *path, bool follow);
/* The two implementations. The first fails with ENOSYS or EPERM if the call is not available, and
 * with EAGAIN if a change interfered. */
int resolve_by_kernel(int folder, const char *path, bool follow);
int resolve_by_hand(int folder, const char *path, bool follow);

#endif
