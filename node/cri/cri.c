#include "node/cri/cri.h"

#include "node/cri/grpc.h"
#include "node/cri/messages.h"

#define SERVICE "/runtime.v1.RuntimeService/"

static int call_on_socket(void *arg, const char *method, const struct buf *request,
                          int64_t limit_ms, struct buf *answer, struct err *e)
{
    return grpc_call(arg, method, request, limit_ms, answer, e);
}

struct cri cri_on(const char *socket)
{
    return (struct cri){ .call = call_on_socket, .arg = (void *) socket };
}

int cri_status(const struct cri *cri, int64_t limit_ms, struct cri_status *ret, struct err *e)
{
    CLEANUP_BUF struct buf request = BUF_INIT(CRI_REQUEST_MAX), answer = BUF_INIT(CRI_ANSWER_MAX);
    if (cri->call(cri->arg, SERVICE "Status", &request, limit_ms, &answer, e) < 0)
        return -1;
    return cri_read_status(&answer, ret)
               ? 0
               : err_set(e, ERR_INVALID, "the runtime's status cannot be read");
}

static int call_with_id(const struct cri *cri, const char *method, const char *id, int64_t limit_ms,
                        struct err *e)
{
    CLEANUP_BUF struct buf request = BUF_INIT(CRI_REQUEST_MAX), answer = BUF_INIT(CRI_ANSWER_MAX);
    if (!cri_write_id(&request, id))
        return err_set(e, ERR_TOO_LARGE, "the sandbox has a name that is too long");
    return cri->call(cri->arg, method, &request, limit_ms, &answer, e);
}

int cri_try_sandbox(const struct cri *cri, const struct cri_sandbox *sandbox, int64_t limit_ms,
                    struct err *e)
{
    CLEANUP_BUF struct buf request = BUF_INIT(CRI_REQUEST_MAX), answer = BUF_INIT(CRI_ANSWER_MAX);
    CLEANUP_ERR struct err why = { 0 };
    char id[CRI_ID_MAX];
    if (!cri_write_sandbox(&request, sandbox))
        return err_set(e, ERR_TOO_LARGE, "the sandbox has names that are too long");
    if (cri->call(cri->arg, SERVICE "RunPodSandbox", &request, limit_ms, &answer, e) < 0)
        return -1;
    if (!cri_read_id(&answer, id))
        return err_set(e, ERR_INVALID, "the runtime started a sandbox and did not say which");
    if (call_with_id(cri, SERVICE "StopPodSandbox", id, limit_ms, &why) == 0)
        call_with_id(cri, SERVICE "RemovePodSandbox", id, limit_ms, &why);
    return 0;
}
