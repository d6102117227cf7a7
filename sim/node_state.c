#include "sim/node_state.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"

static bool is_up(const json_t *node)
{
    size_t i;
    json_t *condition;
    json_array_foreach (json_at(node, "status.conditions"), i, condition)
        if (str_eq(json_str(condition, "type"), "Ready"))
            return str_eq(json_str(condition, "status"), "True");
    return false;
}

enum node_state node_state_of(const json_t *node)
{
    const json_t *labels = json_at(node, "metadata.labels");
    if (!is_up(node))
        return NODE_DOWN;
    if (json_bool(node, "spec.unschedulable", false))
        return NODE_CLOSED;
    if (!str_eq(json_key(labels, "nvidia.com/gpu.present"), "true"))
        return NODE_PLAIN;
    const char *gpus = json_key(json_at(node, "status.allocatable"), "nvidia.com/gpu");
    if (gpus && strtol(gpus, NULL, 10) > 0)
        return NODE_READY;
    return json_key(labels, "ostler.dev/stack") ? NODE_STARTING : NODE_FOUND;
}

const char *node_state_name(enum node_state state)
{
    static const char *const names[NODE_STATE_COUNT] = {
        [NODE_PLAIN] = "no GPU",   [NODE_FOUND] = "found",   [NODE_STARTING] = "starting",
        [NODE_READY] = "ready",    [NODE_CLOSED] = "closed", [NODE_DOWN] = "down",
    };
    return names[state];
}
