/* Who makes pods of what a toy's DaemonSets want, and runs them: all at once, and all is well. */
#include "tests/unit/support/toy.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/task.h"

static bool is_agent(const json_t *set)
{
    return str_eq(object_label(set, LABEL_COMPONENT), operand_name(OPERAND_AGENT));
}

/* Whether a DaemonSet wants a pod on a node: by its nodeSelector, or for a follower by the stack's label. The agent wants all. */
static bool wants_pod(const json_t *set, const json_t *node)
{
    const json_t *selector = json_at(set, "spec.template.spec.nodeSelector");
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) selector, key, value)
        if (str_has_prefix(key, MARK_PREFIX) && !str_eq(object_label(node, key), json_string_value(value)))
            return false;
    return is_agent(set) || object_label(set, LABEL_REVISION) || object_label(node, LABEL_STACK);
}

static bool has_wanted_pod(const struct toy *t, const char *set, const char *node)
{
    CLEANUP_FREE char *name = xasprintf("%s-%s", set, node);
    return toy_get(t, RESOURCE_POD, name) != NULL;
}

/* What a kubelet does when a device plugin comes or goes. */
static void offer_gpus(struct toy *t, const json_t *pod, const char *count)
{
    const char *node = json_str(pod, "spec.nodeName");
    if (!str_eq(object_label(pod, LABEL_COMPONENT), operand_name(OPERAND_DEVICE_PLUGIN)) || !toy_get(t, RESOURCE_NODE, node))
        return;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "status", "allocatable", RESOURCE_GPU, count);
    toy_edit(t, RESOURCE_NODE, node, patch);
}

static bool remove_unwanted_pods(struct toy *t)
{
    CLEANUP_JSON json_t *pods = json_copy(t->objects[RESOURCE_POD]);
    bool changed = false;
    const char *name;
    json_t *pod;
    json_object_foreach (pods, name, pod) {
        const char *owner = json_str(pod, "metadata.owner");
        const json_t *set = owner ? toy_get(t, RESOURCE_DAEMONSET, owner) : NULL;
        const json_t *node = toy_get(t, RESOURCE_NODE, json_str_or_empty(pod, "spec.nodeName"));
        if (!owner || (set && node && wants_pod(set, node)))
            continue;
        offer_gpus(t, pod, "0");
        toy_remove(t, RESOURCE_POD, name);
        changed = true;
    }
    return changed;
}

static void add_pod(struct toy *t, const json_t *set, const char *node)
{
    CLEANUP_JSON json_t *brief = json_pack("{s:o, s:s, s:o, s:b}", "name",
                                           json_textf(TOY_NAMESPACE "/%s-%s", object_name(set), node), "node", node, "operand",
                                           json_incref(json_object_get(json_at(set, "metadata.labels"), LABEL_COMPONENT)),
                                           "ready", 1);
    if (object_label(set, LABEL_REVISION))
        json_object_set_new(brief, "revision", json_string(object_label(set, LABEL_REVISION)));
    json_t *pod = toy_pod(brief);
    json_set_at(pod, "metadata.owner", json_string(object_name(set)));
    offer_gpus(t, pod, "8");
    toy_put(t, RESOURCE_POD, pod);
}

/* What the DaemonSet controller says of a set that rolls: here it has rolled at once. Who says how many are ready is believed. */
static bool count_pods(struct toy *t, const json_t *set)
{
    const char *name;
    json_t *node;
    json_int_t desired = 0;
    if (!str_eq(json_str(set, "spec.updateStrategy.type"), "RollingUpdate"))
        return false;
    json_object_foreach (t->objects[RESOURCE_NODE], name, node)
        desired += wants_pod(set, node);
    CLEANUP_JSON json_t *status = json_pack("{s:I, s:I, s:I, s:I}", "observedGeneration", (json_int_t) object_generation(set),
                                            "desiredNumberScheduled", desired, "updatedNumberScheduled", desired, "numberReady",
                                            (json_int_t) json_int(set, "status.numberReady", desired));
    if (json_equal(status, json_object_get(set, "status")))
        return false;
    json_t *counted = json_deep_copy(set);
    json_object_set(counted, "status", status);
    toy_put(t, RESOURCE_DAEMONSET, counted);
    return true;
}

/* Proofs come to their end, and all is well. */
static bool end_proofs(struct toy *t)
{
    bool changed = false;
    const char *name;
    json_t *pod;
    CLEANUP_JSON json_t *tasks = json_copy(t->objects[RESOURCE_TASK]);
    json_object_foreach (tasks, name, pod) {
        if (!str_eq(json_str(pod, "status.phase"), "Pending") ||
            !str_eq(object_label(pod, LABEL_TASK), task_kind_name(TASK_PROOF)))
            continue;
        CLEANUP_JSON json_t *end = json_pack("{s:{s:s, s:[{s:s, s:{s:{s:i}}}]}}", "status", "phase", "Succeeded",
                                             "containerStatuses", "name", "x", "state", "terminated", "exitCode", 0);
        toy_edit(t, RESOURCE_TASK, name, end);
        changed = true;
    }
    return changed;
}

bool toy_follow(struct toy *t)
{
    bool changed = remove_unwanted_pods(t);
    changed |= end_proofs(t);
    CLEANUP_JSON json_t *sets = json_copy(t->objects[RESOURCE_DAEMONSET]);
    const char *set_name, *node_name;
    json_t *set, *node;
    json_object_foreach (sets, set_name, set) {
        changed |= count_pods(t, set);
        json_object_foreach (t->objects[RESOURCE_NODE], node_name, node) {
            if (!wants_pod(set, node) || has_wanted_pod(t, set_name, node_name))
                continue;
            add_pod(t, set, node_name);
            changed = true;
        }
    }
    return changed;
}
