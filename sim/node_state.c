#include "sim/node_state.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"

static bool is_ready(const json_t *object)
{
    return str_eq(condition_status(json_at(object, "status.conditions"), "Ready"), "True");
}

/* A container that waits for anything but its first start says what went wrong. */
static bool is_failing(const json_t *pod)
{
    static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
    size_t k;
    json_t *container;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        json_array_foreach (json_at(pod, lists[i]), k, container) {
            const char *reason = json_str(container, "state.waiting.reason");
            if (reason && !str_eq(reason, "ContainerCreating") && !str_eq(reason, "PodInitializing"))
                return true;
        }
    return false;
}

void node_operands_add(struct node_operands *o, const json_t *pod, int delta)
{
    if (is_failing(pod))
        o->failed += (size_t) delta;
    else if (!is_ready(pod))
        o->waiting += (size_t) delta;
}

enum node_state node_state_of(const json_t *node, const struct node_operands *o)
{
    const json_t *labels = json_at(node, "metadata.labels");
    if (!is_ready(node))
        return NODE_DOWN;
    if (json_bool(node, "spec.unschedulable", false))
        return NODE_CLOSED;
    if (!str_eq(json_key(labels, "nvidia.com/gpu.present"), "true"))
        return NODE_PLAIN;
    if (!json_key(labels, "ostler.dev/stack"))
        return NODE_FOUND;
    if (o && o->failed)
        return NODE_FAILED;
    const char *gpus = json_key(json_at(node, "status.allocatable"), "nvidia.com/gpu");
    return gpus && strtol(gpus, NULL, 10) > 0 && !(o && o->waiting) ? NODE_READY : NODE_STARTING;
}

const char *node_state_name(enum node_state state)
{
    static const char *const names[NODE_STATE_COUNT] = {
        [NODE_PLAIN] = "no GPU",   [NODE_FOUND] = "found",   [NODE_STARTING] = "starting", [NODE_READY] = "ready",
        [NODE_FAILED] = "failed",  [NODE_CLOSED] = "closed", [NODE_DOWN] = "down",
    };
    return names[state];
}
