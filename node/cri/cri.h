/* The part of Kubernetes' Container Runtime Interface that shows whether a runtime works: its
 * status, and whether it starts a container (k8s.io/cri-api, pkg/apis/runtime/v1/api.proto). A
 * sandbox is one container that holds the namespaces of a pod; each node has its image. */
#ifndef OSTLER_NODE_CRI_CRI_H
#define OSTLER_NODE_CRI_CRI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Limits in bytes. ANSWER and REQUEST: of a response and a request. */
enum { CRI_ANSWER_MAX = 64 * 1024, CRI_REQUEST_MAX = 4096, CRI_ID_MAX = 128, CRI_TEXT_MAX = 512 };

/* How requests reach the runtime: made by cri_on(), or by a test. `call` is like grpc_call()
 * (node/cri/grpc.h). */
struct cri {
    int (*call)(void *arg, const char *method, const struct buf *request, int64_t limit_ms,
                struct buf *answer, struct err *e);
    void *arg;
};

/* Conditions that the runtime reports. The kubelet sets NodeReady to False while one of them is not
 * true (pkg/kubelet/runtime.go and kubelet.go, updateRuntimeUp, in Kubernetes 1.36). */
enum cri_condition { CRI_RUNTIME_READY, CRI_NETWORK_READY, CRI_CONDITIONS };

struct cri_status {
    bool is_true[CRI_CONDITIONS];
    char why[CRI_CONDITIONS][CRI_TEXT_MAX]; /* its message if it is not true */
};

struct cri_sandbox {
    const char *uid;           /* unique for each sandbox */
    const char *cgroup_parent; /* "", or a slice if systemd manages control groups */
    const char *handler;       /* a handler in the runtime's configuration; "": the default */
};

/* The runtime on a socket; the path is borrowed. */
struct cri cri_on(const char *socket);
/* The condition's name in the interface: "RuntimeReady". */
const char *cri_condition_name(enum cri_condition condition);

/* ERR_NOT_FOUND: the runtime does not support version 1 of the interface. */
int cri_status(const struct cri *cri, int64_t limit_ms, struct cri_status *ret, struct err *e);
/* Starts a sandbox on the node's own network and removes it. An error says why it did not start. If
 * the removal fails, the kubelet removes the sandbox, because no pod has that uid. */
int cri_try_sandbox(const struct cri *cri, const struct cri_sandbox *sandbox, int64_t limit_ms,
                    struct err *e);

/* ---- decodes responses, within limits */

/* RunPodSandboxResponse. False: it is malformed, or names no sandbox. */
bool cri_read_id(const struct buf *answer, char ret[CRI_ID_MAX]);
/* StatusResponse. A missing condition is not true. False: it is malformed. */
bool cri_read_status(const struct buf *answer, struct cri_status *ret);

#endif
