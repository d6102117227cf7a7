#include "reconcilers/fleet_fields.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/terminal.h"

#define PLAN "rollout.plan."
#define PACE "rollout.pace."
#define EXPLAIN "explain."
/* Of a GpuNode, without what the agent reports. */
#define STATUS(of)                                                                                 \
    of "state", of "reason", of "message", of "since", of "gpus", of "product",                    \
        of "waitingFor[].kind", of "waitingFor[].namespace", of "waitingFor[].name",               \
        of "waitingFor[].reason", of "waitingFor[].message", of "next.reason", of "next.until",    \
        of "next.message", of "driver.version", of "driver.revision", of "driver.target",          \
        of "stack.version", of "stack.revision", of "stack.target", of "lastWords.pod",            \
        of "lastWords.container", of "lastWords.text", of "timeToReady.seen",                      \
        of "timeToReady.images", of "timeToReady.driver", of "timeToReady.registered",             \
        of "timeToReady.proven", of "health.level", of "health.reason", of "health.message",       \
        of "health.address", of "health.since", of "health.state", of "health.repairs[].kind",     \
        of "health.repairs[].at", of "policyGeneration"
#define POD(of)                                                                                    \
    of "name", of "operand", of "state", of "ready", of "restarts", of "message", of "gpus",       \
        of "since"

const char *const fleet_policy_fields[] = {
    "name",
    "ready",
    "reason",
    "message",
    "paused",
    "conditions[].type",
    "conditions[].status",
    "conditions[].observedGeneration",
    "conditions[].lastTransitionTime",
    "conditions[].reason",
    "conditions[].message",
    "nodes.total",
    "nodes.gpu",
    "nodes.managed",
    "nodes.ready",
    "nodes.upToDate",
    "nodes.outdated",
    "nodes.states[].state",
    "nodes.states[].count",
    "rollout.reason",
    "rollout.message",
    "rollout.until",
    "rollout.pending",
    "rollout.active",
    "rollout.waiting",
    "rollout.failed",
    "rollout.skipped",
    "rollout.done",
    PLAN "hash",
    PLAN "madeAt",
    PLAN "message",
    PLAN "nodes",
    PLAN "underWay",
    PLAN "waveCount",
    PLAN "beyond",
    PLAN "ends",
    PLAN "pools[].name",
    PLAN "pools[].driver",
    PLAN "pools[].stack",
    PLAN "waves[].nodes",
    PLAN "waves[].names[]",
    PLAN "waves[].canary",
    PLAN "waves[].begins",
    PLAN "waves[].notBefore",
    PLAN "stay[].reason",
    PLAN "stay[].nodes",
    PLAN "stay[].names[]",
    PLAN "pods.leave",
    PLAN "pods.wait",
    PLAN "blockers[].node",
    PLAN "blockers[].message",
    PACE "driver.secondsPerNode",
    PACE "driver.nodes",
    PACE "stack.secondsPerNode",
    PACE "stack.nodes",
    "pools[].name",
    "pools[].nodes",
    "pools[].ready",
    "pools[].upToDate",
    "pools[].outdated",
    "pools[].driverVersion",
    "pools[].targets[].revision",
    "pools[].targets[].version",
    "pools[].targets[].nodes",
    "pools[].targets[].knownGood",
    "windows[].opens",
    "windows[].closes",
    "soak.canary",
    "soak.wave",
    "health.mode",
    "health.braked",
    "health.reason",
    "health.message",
    "blockers[].node",
    "blockers[].pod",
    "blockers[].since",
    "blockers[].reason",
    "blockers[].message",
    "blockers[].next",
    NULL,
};

const char *const fleet_node_fields[] = {
    "asOf",
    "name",
    STATUS("status."),
    "status.inventory.gpus[].address",
    "status.inventory.gpus[].product",
    "status.inventory.module.version",
    "status.inventory.heldBy",
    "status.inventory.faults[].address",
    "status.inventory.faults[].xid",
    "status.inventory.faults[].nvswitch",
    "status.inventory.faults[].fatal",
    "status.inventory.faults[].recovery",
    "status.inventory.faults[].count",
    "status.inventory.faults[].first",
    "status.inventory.faults[].last",
    STATUS("explain."),
    EXPLAIN "node",
    EXPLAIN "asOf",
    EXPLAIN "loaded",
    EXPLAIN "holders",
    EXPLAIN "seconds",
    EXPLAIN "held",
    EXPLAIN "cordoned",
    EXPLAIN "story[].time",
    EXPLAIN "story[].what",
    EXPLAIN "story[].text",
    EXPLAIN "story[].warning",
    EXPLAIN "ostler.state",
    EXPLAIN "ostler.holder",
    EXPLAIN "ostler.renewed",
    EXPLAIN "ostler.seconds",
    EXPLAIN "ostler.message",
    EXPLAIN "next[].text",
    EXPLAIN "next[].at",
    EXPLAIN "missing.events",
    POD(EXPLAIN "operandPods[]."),
    POD(EXPLAIN "gpuPods[]."),
    "cut",
    "text",
    "commands[]",
    NULL,
};

/* A member whose path is the first `len` bytes of `path`: whether it is listed, or a part of it. */
static bool is_listed(const char *const *fields, const char *path, size_t len, bool whole)
{
    for (; *fields; fields++) {
        bool begins = strncmp(*fields, path, len) == 0;
        const char end = begins ? (*fields)[len] : ' ';
        if (whole ? end == '\0' : end == '.' || end == '[')
            return true;
    }
    return false;
}

/* NULL: the value is not listed. */
static json_t *pick(const json_t *value, const char *const *fields, struct buf *path)
{
    size_t len = path->len;
    bool parts = json_is_object(value) || json_is_array(value);
    if (len && !is_listed(fields, buf_text(path), len, !parts))
        return json_is_null(value) && is_listed(fields, buf_text(path), len, false) ? json_null()
                                                                                    : NULL;
    if (!parts)
        return terminal_shown_tree(value);
    json_t *copy = json_is_object(value) ? json_object() : json_array();
    JSON_EACH_MEMBER (key, child, value) {
        buf_printf(path, "%s%s", len ? "." : "", key);
        /* No name has a part of a path in it. */
        json_t *picked = strpbrk(key, ".[") ? NULL : pick(child, fields, path);
        if (picked)
            json_object_set_new(copy, key, picked);
        path->data[path->len = len] = '\0';
    }
    JSON_EACH (child, value) {
        buf_str(path, "[]");
        json_t *picked = pick(child, fields, path);
        if (picked)
            json_array_append_new(copy, picked);
        path->data[path->len = len] = '\0';
    }
    return copy;
}

json_t *fleet_fields_pick(const json_t *tree, const char *const *fields)
{
    struct buf path = BUF_INIT(SIZE_MAX);
    json_t *picked = pick(tree, fields, &path);
    buf_clear(&path);
    return picked;
}
