#include "reconcilers/model/pod_failure.h"

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/reason.h"

/* Reasons of a kubelet or container runtime that could not make or start a container. A wrong
 * configuration is not among them: the pod's author made it. */
static bool cannot_start(const char *reason)
{
    static const enum reason reasons[] = { REASON_CREATE_CONTAINER_ERROR,
                                           REASON_RUN_CONTAINER_ERROR, REASON_START_ERROR,
                                           REASON_CONTAINER_CANNOT_RUN };
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_eq(reason, reason_text(reasons[i])))
            return true;
    return false;
}

/* Whether the end of a container is a fast failure. A container that did not start has no time of
 * its start. */
static bool is_fast_end(const json_t *end, bool main)
{
    if (json_int(end, "exitCode", 0) == 0)
        return false;
    if (cannot_start(json_str(end, "reason")))
        return true;
    int64_t from_s = object_time_s(end, "startedAt"), to_s = object_time_s(end, "finishedAt");
    return main && from_s && to_s - from_s <= POD_FAILS_FAST_S;
}

/* What has been seen of a pod's containers. */
struct looking {
    bool failed;  /* one has failed */
    bool waits;   /* one cannot start now */
    int64_t at_s; /* the last end by a failure */
};

/* An init container that ends with an error may not have touched a GPU. */
static void look_at(const json_t *statuses, bool main, struct looking *l)
{
    static const char *const ends[] = { "state.terminated", "lastState.terminated" };
    JSON_EACH (status, statuses) {
        l->waits |= cannot_start(json_str(status, "state.waiting.reason"));
        for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
            const json_t *end = json_at(status, ends[i]);
            int64_t at_s = object_time_s(end, "finishedAt");
            if (!is_fast_end(end, main))
                continue;
            l->failed = true;
            l->at_s = at_s > l->at_s ? at_s : l->at_s;
        }
    }
}

static bool has_failed(const json_t *object, struct pod_failure *f)
{
    const char *reason = json_str_or_empty(object, "status.reason");
    if (*reason) {
        f->at_s = object_time_s(object, "status.startTime");
        return str_eq(reason, reason_text(REASON_UNEXPECTED_ADMISSION_ERROR)) &&
               str_eq(json_str(object, "status.phase"), "Failed");
    }
    struct looking l = { 0 };
    look_at(json_at(object, "status.initContainerStatuses"), false, &l);
    look_at(json_at(object, "status.containerStatuses"), true, &l);
    f->at_s = l.waits ? 0 : l.at_s;
    return l.failed || l.waits;
}

bool pod_failure_read(const json_t *object, struct pod_failure *ret)
{
    const char *uid = object_uid(object),
               *owner = json_str_or_empty(object_controller(object), "uid");
    *ret = (struct pod_failure){ .pod = str_hash_id(uid),
                                 .owner = str_hash_id(*owner ? owner : uid) };
    return *uid && !object_is_deleting(object) && has_failed(object, ret) &&
           pod_requests_gpus(object);
}
