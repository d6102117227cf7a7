/* Opening below a folder as if it were the root: absolute links begin there and ".." ends there, so that nothing outside is
 * reached. The kernel does that (openat2, Linux 5.6); where it does not, or a seccomp profile refuses the call, links are
 * followed by hand. */
#ifndef OSTLER_NODE_INVENTORY_RESOLVE_H
#define OSTLER_NODE_INVENTORY_RESOLVE_H

#include <stdbool.h>

/* Opens a path below the folder, with O_PATH: nothing is done to what it is, a device or a FIFO included. `follow`: a link at the
 * end too. Returns the descriptor, or -1 with errno. */
int resolve(int folder, const char *path, bool follow);
/* The two ways of it. The first fails with ENOSYS or EPERM where there is no such call, and with EAGAIN where it met a change. */
int resolve_by_kernel(int folder, const char *path, bool follow);
int resolve_by_hand(int folder, const char *path, bool follow);

#endif
