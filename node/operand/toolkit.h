/* The programs of the toolkit's containers. `ostler-node install-toolkit` has NVIDIA's program
 * install the toolkit, and `sign-toolkit` keeps its ready file. `remove-toolkit` restores the
 * container runtime's configuration, and `idle` then shows that it succeeded. */
#ifndef OSTLER_NODE_OPERAND_TOOLKIT_H
#define OSTLER_NODE_OPERAND_TOOLKIT_H

#include <stdint.h>

#include "base/err.h"
#include "node/agent/ready_files.h"
#include "node/operand/runtime.h"
#include "node/operand/toolkit_files.h"

/* Time for the kubelet to see that a container runs, before the runtime restarts under it. */
enum { TOOLKIT_SEEN_MS = 5000 };

/* How to install the toolkit, or to remove it. */
struct toolkit {
    const char *to;       /* the directory that receives toolkit/nvidia-container-runtime */
    char *const *program; /* NVIDIA's program with its arguments; it ends when it is done */
    /* of a container runtime that reloads on a signal; NULL: it needs no reload, or NVIDIA's
     * program restarts it */
    const char *socket;
    int64_t seen_ms; /* time for the kubelet to see this container */
    struct runtime_times times;
    /* a directory on the container's own disk, which is lost with the container */
    const char *scratch;
    /* files of the runtime's configuration, and their copies for the removal */
    struct toolkit_files files;

    /* ---- of the installation */

    const struct cri *cri; /* to check that containers start; NULL: not available */
    const char *handler;   /* the handler that the toolkit adds to the runtime's configuration */
    const char *pod;       /* this container's pod; NULL: not known */
};

/* Runs the program after `seen_ms`, restarts the runtime, and returns when the wrapper is installed
 * and the runtime is back. If a container ended while containerd 2 was away, containerd would count
 * it as failed and it would restart for ever. Ostler finds the runtime's pid itself: NVIDIA's
 * program asks in a way that may get no response, and then signals its own process group
 * (container/runtime/containerd/containerd_linux.go of v1.20.0). A signal to stop is obeyed only
 * before the program starts: later the program would stop in the middle and report success. */
int toolkit_install(const struct toolkit *t, struct err *e);

/* After `seen_ms`, restores the runtime's configuration from before the toolkit
 * (node/operand/toolkit_files.h) and restarts the runtime. Without a socket, NVIDIA's program
 * restarts it and writes its configuration to an unused place. The program's own removal is not
 * used, because it would remove all runtimes with the toolkit's names, whoever added them. Then
 * removes the CDI specification. The toolkit's directory stays, because running containers need its
 * files. Signals are handled as above. */
int toolkit_remove(const struct root *root, const struct toolkit *t, struct err *e);
/* Does nothing until a signal to stop. */
int toolkit_idle(struct err *e);
/* Waits for the driver if necessary, then keeps the toolkit's ready file (node/agent/ready_files.h)
 * for this boot and driver until a signal to stop: 0. */
int toolkit_sign(const struct root *root, enum ready_source source, const char *revision,
                 struct err *e);

#endif
