#include "node/cri/cri.h"

#include <string.h>

#include "base/str.h"
#include "base/wire.h"
#include "node/cri/grpc.h"

#define SERVICE "/runtime.v1.RuntimeService/"

/* ---- messages */

/* Field numbers, grouped by message. */
enum {
    REQUEST_CONFIG = 1,
    REQUEST_HANDLER = 2,
    CONFIG_METADATA = 1,
    CONFIG_LINUX = 8,
    METADATA_NAME = 1,
    METADATA_UID = 2,
    METADATA_NAMESPACE = 3,
    LINUX_CGROUP_PARENT = 1,
    LINUX_SECURITY = 2,
    SECURITY_NAMESPACES = 1,
    NAMESPACES_NETWORK = 1,
    SANDBOX_ID = 1,
    ANSWER_STATUS = 1,
    STATUS_CONDITION = 1,
    CONDITION_TYPE = 1,
    CONDITION_STATUS = 2,
    CONDITION_MESSAGE = 4,
};

/* The node's network needs no CNI plug-in, which may call a control plane. All other namespaces are
 * the pod's: CRI-O starts an infra container only for a pod with a shared process namespace
 * (server/sandbox_run_linux.go of 1.34, drop_infra_ctr). */
enum { NAMESPACE_NODE = 2 };

#define SANDBOX_NAME "ostler-runtime-check"
#define SANDBOX_NAMESPACE "ostler-runtime-check"

static const char *const names[CRI_CONDITIONS] = {
    [CRI_RUNTIME_READY] = "RuntimeReady", [CRI_NETWORK_READY] = "NetworkReady"
};

const char *cri_condition_name(enum cri_condition condition)
{
    return names[condition];
}

static bool add_metadata(struct buf *config, const char *uid)
{
    CLEANUP_BUF struct buf metadata = BUF_INIT(CRI_REQUEST_MAX);
    return wire_add_text(&metadata, METADATA_NAME, SANDBOX_NAME) &&
           wire_add_text(&metadata, METADATA_UID, uid) &&
           wire_add_text(&metadata, METADATA_NAMESPACE, SANDBOX_NAMESPACE) &&
           wire_add_message(config, CONFIG_METADATA, &metadata);
}

static bool add_linux(struct buf *config, const char *cgroup_parent)
{
    CLEANUP_BUF struct buf namespaces = BUF_INIT(CRI_REQUEST_MAX),
                           security = BUF_INIT(CRI_REQUEST_MAX),
                           linux_part = BUF_INIT(CRI_REQUEST_MAX);
    return wire_add_number(&namespaces, NAMESPACES_NETWORK, NAMESPACE_NODE) &&
           wire_add_message(&security, SECURITY_NAMESPACES, &namespaces) &&
           wire_add_text(&linux_part, LINUX_CGROUP_PARENT, cgroup_parent) &&
           wire_add_message(&linux_part, LINUX_SECURITY, &security) &&
           wire_add_message(config, CONFIG_LINUX, &linux_part);
}

static bool cri_write_sandbox(struct buf *b, const struct cri_sandbox *sandbox)
{
    CLEANUP_BUF struct buf config = BUF_INIT(CRI_REQUEST_MAX);
    return add_metadata(&config, sandbox->uid) && add_linux(&config, sandbox->cgroup_parent) &&
           wire_add_message(b, REQUEST_CONFIG, &config) &&
           wire_add_text(b, REQUEST_HANDLER, sandbox->handler);
}

static struct wire_rest whole(const struct buf *b)
{
    return (struct wire_rest){ (const unsigned char *) b->data, b->len };
}

/* Copies a C string: truncated to `size`, or at a zero byte. */
static void messages_copy(char *to, size_t size, struct wire_rest from)
{
    size_t len = from.len < size ? from.len : size - 1;
    if (len)
        memcpy(to, from.at, len);
    to[len] = '\0';
}

bool cri_read_id(const struct buf *answer, char ret[CRI_ID_MAX])
{
    struct wire_field id;
    if (!wire_find(whole(answer), SANDBOX_ID, &id) || id.bytes.len >= CRI_ID_MAX)
        return false;
    messages_copy(ret, CRI_ID_MAX, id.bytes);
    return *ret;
}

/* Stores a condition if it is one of CRI_CONDITIONS. */
static bool read_condition(struct wire_rest r, struct cri_status *ret)
{
    struct wire_field type, status, message;
    char name[CRI_TEXT_MAX];
    if (!wire_find(r, CONDITION_TYPE, &type) || !wire_find(r, CONDITION_STATUS, &status) ||
        !wire_find(r, CONDITION_MESSAGE, &message))
        return false;
    messages_copy(name, sizeof name, type.bytes);
    for (size_t i = 0; i < CRI_CONDITIONS; i++) {
        if (!str_eq(name, names[i]))
            continue;
        ret->is_true[i] = status.value != 0;
        messages_copy(ret->why[i], sizeof ret->why[i], message.bytes);
    }
    return true;
}

bool cri_read_status(const struct buf *answer, struct cri_status *ret)
{
    *ret = (struct cri_status){ 0 };
    struct wire_field status;
    if (!wire_find(whole(answer), ANSWER_STATUS, &status))
        return false;
    struct wire_rest r = status.bytes;
    for (struct wire_field f; r.len > 0;)
        if (!wire_take(&r, &f) || (f.number == STATUS_CONDITION && !read_condition(f.bytes, ret)))
            return false;
    return true;
}

/* ---- calls */

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
    if (!wire_add_text(&request, SANDBOX_ID, id))
        return err_set(e, ERR_TOO_LARGE, "the name of the sandbox is too long");
    return cri->call(cri->arg, method, &request, limit_ms, &answer, e);
}

int cri_try_sandbox(const struct cri *cri, const struct cri_sandbox *sandbox, int64_t limit_ms,
                    struct err *e)
{
    CLEANUP_BUF struct buf request = BUF_INIT(CRI_REQUEST_MAX), answer = BUF_INIT(CRI_ANSWER_MAX);
    CLEANUP_ERR struct err why = { 0 };
    char id[CRI_ID_MAX];
    if (!cri_write_sandbox(&request, sandbox))
        return err_set(e, ERR_TOO_LARGE, "the names of the sandbox are too long");
    if (cri->call(cri->arg, SERVICE "RunPodSandbox", &request, limit_ms, &answer, e) < 0)
        return -1;
    if (!cri_read_id(&answer, id))
        return err_set(e, ERR_INVALID, "the runtime started a sandbox without returning its ID");
    if (call_with_id(cri, SERVICE "StopPodSandbox", id, limit_ms, &why) == 0)
        call_with_id(cri, SERVICE "RemovePodSandbox", id, limit_ms, &why);
    return 0;
}
