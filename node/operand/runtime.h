/* Restarts the machine's container runtime and waits for it, through its socket. */
#ifndef OSTLER_NODE_OPERAND_RUNTIME_H
#define OSTLER_NODE_OPERAND_RUNTIME_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Waiting times in milliseconds. */
struct runtime_times {
    int64_t limit; /* by when it must be back */
    /* a process that still answers after this time will not end: dockerd reloads without a new
     * process */
    int64_t stays;
    int64_t steady; /* how long a new process must answer */
    int64_t works;  /* time for containers to start as before, once it is back */
};

/* containerd's own unit restarts it after 5 s. k3s ends with its containerd and takes half a minute
 * on a small machine. The signal ends containerd at once. */
#define RUNTIME_TIMES                                                                              \
    {                                                                                              \
        .limit = 120 * 1000, .stays = 10 * 1000, .steady = 2 * 1000, .works = 30 * 1000            \
    }

/* The pid of the process on the socket, or 0. Only valid in the host's pid namespace. */
pid_t runtime_process(const char *socket);
/* Waits until the runtime answers with its new configuration; `before` is the pid from before the
 * change. A runtime listens once all its parts have started. */
int runtime_await(const char *socket, pid_t before, const struct runtime_times *times,
                  struct err *e);

/* Sends the signal that ends containerd and makes dockerd reload, and waits until the runtime is
 * back. If it does not answer now, waits for it first. */
int runtime_restart(const char *socket, const struct runtime_times *times, struct err *e);

/* Waits after another program has restarted the runtime, before this container ends. CRI-O learns
 * of the end of a container from a new file. It starts to watch for such files shortly after it
 * reports to systemd that it is up (server/server.go, StartExitMonitor, in 1.34). It reports a
 * container that ended earlier as running for ever. */
void runtime_rest(const struct runtime_times *times);

#endif
