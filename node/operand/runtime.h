/* The container runtime of the machine, by the socket that it answers on. */
#ifndef OSTLER_NODE_OPERAND_RUNTIME_H
#define OSTLER_NODE_OPERAND_RUNTIME_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* How long is waited for it, in milliseconds. */
struct runtime_times {
    int64_t limit;  /* until it has to be back */
    int64_t stays;  /* a process that answers for so long after the change is not about to end: dockerd reads its configuration
                       again without one */
    int64_t steady; /* another one has to answer for so long */
    int64_t works;  /* until containers start as before, once it is back */
};

/* containerd's own unit starts it again after 5 s; that of k3s, which ends with it, takes half a minute on a small machine. The
 * signal ends containerd at once. */
#define RUNTIME_TIMES { .limit = 120 * 1000, .stays = 10 * 1000, .steady = 2 * 1000, .works = 30 * 1000 }

/* The process that answers there, or 0. Only who shares the host's processes sees its number. */
pid_t runtime_process(const char *socket);
/* Waits until the runtime, of which `before` answered before its configuration was changed, answers with the new one. It listens
 * once all its parts have begun. */
int runtime_await(const char *socket, pid_t before, const struct runtime_times *times, struct err *e);

/* Has the runtime read its configuration again, by the signal that ends containerd and that dockerd reloads at, and waits until
 * it is back. One that does not answer is waited for first. */
int runtime_restart(const char *socket, const struct runtime_times *times, struct err *e);

/* Lets a runtime that another program has restarted come to itself, before this container ends. CRI-O is told of the end of a
 * container by a file that is made while it looks (server/server.go, StartExitMonitor, in 1.34): one that ends before that is
 * said to run for ever. It looks shortly after it has told systemd that it is up. */
void runtime_rest(const struct runtime_times *times);

#endif
