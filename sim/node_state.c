#include "sim/node_state.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"

/* A container that waits for anything but its first start has failed. */
static bool is_failing(const json_t *pod)
{
    static const char *const lists[] = { "status.initContainerStatuses",
                                         "status.containerStatuses" };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSON_EACH (container, json_at(pod, lists[i])) {
            const char *reason = json_str(container, "state.waiting.reason");
            if (reason && !str_eq(reason, "ContainerCreating") &&
                !str_eq(reason, "PodInitializing"))
                return true;
        }
    return false;
}

void node_operands_add(struct node_operands *o, const json_t *pod, int delta)
{
    if (is_failing(pod))
        o->failed += (size_t) delta;
    else if (!condition_is_true(pod, "Ready"))
        o->waiting += (size_t) delta;
}

/* The state in the report; NODE_STATE_COUNT: none yet. */
static enum node_state reported(const json_t *report)
{
    const char *said = json_str(report, "status.state");
    enum node_state state = NODE_FOUND;
    while (state < NODE_STATE_COUNT && !str_eq(said, node_state_looks[state].name))
        state++;
    return state;
}

enum node_state node_state_of(const json_t *node, const json_t *report,
                              const struct node_operands *o)
{
    const json_t *labels = json_at(node, "metadata.labels");
    if (report && reported(report) != NODE_STATE_COUNT)
        return reported(report);
    if (!condition_is_true(node, "Ready"))
        return NODE_LOST;
    if (!str_eq(json_key(labels, "nvidia.com/gpu.present"), "true"))
        return NODE_PLAIN;
    if (!json_key(labels, "ostler.dev/stack"))
        return NODE_FOUND;
    if (o && o->failed)
        return NODE_FAILED;
    const char *gpus = json_key(json_at(node, "status.allocatable"), "nvidia.com/gpu");
    return gpus && strtol(gpus, NULL, 10) > 0 && !(o && o->waiting) ? NODE_READY : NODE_STARTING;
}

const struct node_state_look node_state_looks[NODE_STATE_COUNT] = {
#define X(id, name, colour) { name, colour },
    NODE_STATES(X)
#undef X
};
