/* The part of Kubernetes' Container Runtime Interface that tells whether a runtime works: what it says of itself, and whether it
 * starts a container (k8s.io/cri-api, pkg/apis/runtime/v1/api.proto). A sandbox is that: one container, which holds the
 * namespaces of a pod, of an image that each node has. */
#ifndef OSTLER_NODE_CRI_CRI_H
#define OSTLER_NODE_CRI_CRI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Most of a runtime's answer, and of a request. */
enum { CRI_ANSWER_MAX = 64 * 1024, CRI_REQUEST_MAX = 4096, CRI_ID_MAX = 128, CRI_TEXT_MAX = 512 };

/* How the runtime is asked: cri_on() makes one, or a test. A call is grpc_call() (node/cri/grpc.h). */
struct cri {
    int (*call)(void *arg, const char *method, const struct buf *request, int64_t limit_ms, struct buf *answer, struct err *e);
    void *arg;
};

/* What the runtime says of itself. The kubelet says the same of the node: NodeReady is False while either is not true
 * (pkg/kubelet/runtime.go and kubelet.go, updateRuntimeUp, in Kubernetes 1.36). */
enum cri_condition { CRI_RUNTIME_READY, CRI_NETWORK_READY, CRI_CONDITIONS };

struct cri_status {
    bool is_true[CRI_CONDITIONS];
    char why[CRI_CONDITIONS][CRI_TEXT_MAX]; /* its message where it is not true */
};

struct cri_sandbox {
    const char *uid;           /* another one for each sandbox */
    const char *cgroup_parent; /* "", or a slice where systemd manages control groups */
    const char *handler;       /* of the runtime's configuration; "": its default */
};

/* The runtime that answers on a socket, whose path is borrowed. */
struct cri cri_on(const char *socket);
/* What a condition is called: "RuntimeReady". */
const char *cri_condition_name(enum cri_condition condition);

/* Asks the runtime for its status. ERR_NOT_FOUND: it does not speak version 1 of the interface. */
int cri_status(const struct cri *cri, int64_t limit_ms, struct cri_status *ret, struct err *e);
/* Starts a sandbox on the node's own network, and takes it away again. An error says why it did not start. One that did not go
 * is the kubelet's to take away: it knows no pod of that uid. */
int cri_try_sandbox(const struct cri *cri, const struct cri_sandbox *sandbox, int64_t limit_ms, struct err *e);

#endif
