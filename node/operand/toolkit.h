/* The toolkit's containers: `ostler-node install-toolkit` has NVIDIA's program install it, `sign-toolkit` says that it is
 * there, `remove-toolkit` puts the container runtime's configuration back, and `idle` shows that it has. */
#ifndef OSTLER_NODE_OPERAND_TOOLKIT_H
#define OSTLER_NODE_OPERAND_TOOLKIT_H

#include <stdint.h>

#include "base/err.h"
#include "node/agent/ready_files.h"
#include "node/operand/runtime.h"
#include "node/operand/toolkit_files.h"

/* So long the kubelet may take to see that a container runs before the runtime restarts under it. */
enum { TOOLKIT_SEEN_MS = 5000 };

struct toolkit_install {
    const char *to;         /* the folder in which it puts toolkit/nvidia-container-runtime */
    char *const *program;   /* NVIDIA's, with its arguments; it ends when it is done */
    const char *socket;     /* of the container runtime that reads its configuration again at a signal; NULL: it needs none, or
                               NVIDIA's program restarts it */
    const struct cri *cri;  /* how the runtime is asked whether containers start; NULL: it cannot be asked */
    const char *handler;    /* of the runtime's configuration, that the toolkit adds */
    int64_t seen_ms;        /* so long the kubelet has to see this container */
    struct runtime_times times;
    const char *pod;          /* whose container this is; NULL: not known */
    const char *scratch;      /* a folder of its container's own disk: what is written below it goes with that */
    struct toolkit_files files; /* of the runtime's configuration, and where they are kept for the removal */
};

/* Runs the program after `seen_ms`, restarts the runtime, and returns when the runtime's wrapper is in its folder and the runtime
 * is back: to containerd 2, a container that ends while it is away has failed, and is started again for ever. NVIDIA's program
 * would ask the runtime for its process in a way that may get no answer, and then signals its own process group
 * (container/runtime/containerd/containerd_linux.go of v1.20.0). What asks to stop is heeded
 * before the program is started, and not any more then: it would end in the middle of its work, and say that it was done. */
int toolkit_install(const struct toolkit_install *t, struct err *e);

struct toolkit_removal {
    const char *to;             /* the folder that it was installed in */
    char *const *program;       /* NVIDIA's, as for its installation */
    const char *socket;         /* the same */
    int64_t seen_ms;
    struct runtime_times times;
    struct toolkit_files files;
    const char *scratch;        /* a folder of its container's own disk: what is written below it goes with that */
};

/* Puts the runtime's configuration back as it was before the toolkit (node/operand/toolkit_files.h) after `seen_ms`, and restarts
 * the runtime. Where there is no socket NVIDIA's program restarts it, and writes its own configuration where nobody reads it.
 * Its own way would take runtimes of its names away, whoever has put them there. Then takes away the specification of
 * devices. The folder of the toolkit stays: containers that run need what is in it. What asks to stop is heeded as above. */
int toolkit_remove(const struct root *root, const struct toolkit_removal *t, struct err *e);
/* Does nothing until a signal asks to stop. */
int toolkit_idle(struct err *e);
/* Leaves the toolkit's sign (node/agent/ready_files.h) for this start of the machine and for the
 * driver that is ready, and takes it away when a signal asks to stop: 0. Waits for the driver first, if it has to. */
int toolkit_sign(const struct root *root, enum ready_source source, const char *revision, struct err *e);

#endif
