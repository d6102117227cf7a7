/* What the status must say at each quiet moment of a life, in the middle of a rollout as well:
 * worked out from nodes, their claims and pods, and held against the policy's status, the reports
 * about nodes and their conditions. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

/* What is there, and what Ostler says of it. */
struct moment {
    struct invariants *v;
    const json_t *policy, *status;
    json_t *said; /* how many reports say each state; owned */
    /* nodes; those of which something says that they have a GPU, and those that had one */
    int64_t nodes, gpu, maybe_gpu;
    /* of those with a GPU that the policy wants: up, and of these closed and not failed, and said
     * to be closed for a fault */
    int64_t up, moving, unhealthy;
    int64_t changing, waiting;     /* claims that hold a place, and that wait */
    int64_t failed, closed_failed; /* claims that failed, and of these on closed nodes */
    /* wanted nodes that are up: with all operands up and a GPU to give, or not so */
    int64_t works, broken;
};

/* Which tier of a node's assignment brings an operand without which no GPU works. */
static const struct {
    const char *component, *label;
} operands[] = {
    { "driver", "ostler.dev/driver" },
    { "device-plugin", "ostler.dev/stack" },
};

static bool is_up(const json_t *object)
{
    return str_eq(check_condition(object, "Ready"), "True");
}

/* ---- nodes */

static bool gives_gpus(const json_t *node)
{
    const char *resource;
    json_t *count;
    json_object_foreach (json_at(node, "status.allocatable"), resource, count)
        if (check_is_gpu(resource) && !str_eq(json_string_value(count), "0"))
            return true;
    return false;
}

/* A label or the node's agent says that it has a GPU. */
static bool has_gpu(const json_t *node, const json_t *report)
{
    return str_eq(object_label(node, "feature.node.kubernetes.io/pci-10de.present"), "true") ||
           json_array_size(json_at(report, "status.inventory.gpus")) > 0;
}

/* What Ostler has left there shows that it had one. */
static bool had_gpu(const json_t *node)
{
    return gives_gpus(node) || object_annotation(node, ANNOTATION_MARKS) ||
           object_label(node, LABEL_DRIVER) || object_label(node, LABEL_STACK) ||
           object_label(node, LABEL_REMOVAL) || reading_is_closed(node);
}

static bool has_operand(const struct moment *m, const json_t *node, const char *component,
                        const char *revision)
{
    const struct kind *pods = kind_named("pods");
    for (size_t i = 0; i < api_count(m->v->run->api, pods); i++) {
        const json_t *pod = api_at(m->v->run->api, pods, i);
        if (str_eq(json_str(pod, "spec.nodeName"), object_name(node)) &&
            str_eq(object_namespace(pod), OPERAND_NAMESPACE) &&
            str_eq(object_label(pod, LABEL_COMPONENT), component) &&
            str_eq(object_label(pod, LABEL_REVISION), revision) && is_up(pod) &&
            !object_is_deleting(pod))
            return true;
    }
    return false;
}

/* Whether the device plugin is switched off in the stack that the node is assigned, as its record
 * says. */
static bool lacks_plugin(const struct moment *m, const json_t *node)
{
    CLEANUP_FREE char *name = xasprintf("stack-%s",
                                        str_or_empty(object_label(node, operands[1].label)));
    const json_t *record = api_get(m->v->run->api, kind_named("controllerrevisions"),
                                   OPERAND_NAMESPACE, name);
    return !json_bool(record, "data.devicePlugin.enabled", true);
}

/* Whether it has a device plugin of Ostler's that is up, the driver that it is assigned, and GPUs
 * to give. Without a plugin of Ostler's another one has to give them. */
static bool works(const struct moment *m, const json_t *node)
{
    bool lacks = lacks_plugin(m, node);
    for (size_t i = 0; i < ARRAY_LEN(operands) - lacks; i++) {
        const char *revision = object_label(node, operands[i].label);
        if (revision && *revision && !has_operand(m, node, operands[i].component, revision))
            return false;
    }
    return *str_or_empty(object_label(node, operands[1].label)) && (lacks || gives_gpus(node));
}

/* What the report of a node must say of one that is claimed; NULL: it is not. */
static const char *state_of_claim(const json_t *node)
{
    static const char *const states[][2] = {
        { "Waiting", "Waiting" },       { "Draining", "Draining" },
        { "Unloading", "Unloading" },   { "Installing", "Installing" },
        { "Validating", "Validating" }, { "Failed", "Failed" },
        { "Resetting", "Resetting" },   { "Rebooting", "Rebooting" },
    };
    struct reading_claim claim;
    if (!reading_is_closed(node) || !reading_claim(node, &claim))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (strcmp(states[i][0], claim.phase) == 0)
            return states[i][1];
    return "?";
}

static void count_claim(struct moment *m, const json_t *node)
{
    struct reading_claim claim;
    if (!reading_claim(node, &claim))
        return;
    bool failed = str_eq(claim.phase, "Failed"), closed = reading_is_closed(node);
    m->changing += reading_has_place(&claim);
    m->waiting += str_eq(claim.phase, "Waiting");
    m->failed += failed;
    m->closed_failed += failed && closed;
}

static void count_wanted(struct moment *m, const json_t *node, const char *state)
{
    const char *phase = state_of_claim(node);
    if (!is_up(node))
        return;
    m->up++;
    if (phase && !str_eq(phase, "Failed"))
        m->moving++;
    else if (str_eq(state, "Unhealthy"))
        m->unhealthy++;
    else if (works(m, node))
        m->works++;
    else
        m->broken++;
}

/* Whether a node is down because Ostler reboots it, and its report says so. */
static bool reboots(const char *phase, const char *state)
{
    return str_eq(phase, "Rebooting") && str_eq(state, phase);
}

/* What is wrong with what is said of a node that the policy wants. */
static const char *wrong_of_node(const struct moment *m, const json_t *node, const char *state)
{
    const char *phase = state_of_claim(node);
    if (!is_up(node))
        return str_eq(state, "Lost") || str_eq(state, "ForeignStack") || reboots(phase, state)
                   ? NULL
                   : "the node is down";
    if (str_eq(state, "Lost"))
        return "the node is up";
    if (phase)
        return str_eq(state, phase) ? NULL : "its claim is in another phase";
    if (str_eq(state, "Unhealthy"))
        return check_is_unhealthy(node) ? NULL : "it is not closed for a fault";
    if (str_eq(state, "Ready") && check_is_unhealthy(node))
        return "it is closed for a fault";
    if (str_eq(state, "Ready"))
        return works(m, node) ? NULL : "not all of its operands are up, or it has no GPU to give";
    return str_eq(state, "Installing") && works(m, node) ? "all of its operands are up" : NULL;
}

/* The condition GpuHealthy is there where Ostler acts on faults, and agrees with the report. */
static void look_at_health(struct moment *m, const json_t *node, const json_t *report)
{
    static const char *const closing[] = { "Close", "Reboot", "Human" };
    const char *said = check_condition(node, "GpuHealthy"),
               *level = json_str(report, "status.health.level");
    bool acts = !str_eq(json_str(m->policy, "spec.health.mode"), "Observe"), closes = false;
    for (size_t i = 0; i < ARRAY_LEN(closing); i++)
        closes |= str_eq(level, closing[i]);
    if (acts != (*said != '\0') || (closes && str_eq(said, "True")))
        check_failed(m->v, INVARIANT_L8_MOMENTS,
                     "%s: its condition GpuHealthy is \"%s\", its report says %s",
                     object_name(node), said, level ? level : "that all is well");
}

static void look_at_node(struct moment *m, const json_t *node)
{
    const json_t *report = api_get(m->v->run->api, kind_named("gpunodes"), NULL, object_name(node));
    const char *state = json_str_or_empty(report, "status.state");
    m->nodes++;
    m->gpu += has_gpu(node, report);
    m->maybe_gpu += has_gpu(node, report) || had_gpu(node);
    count_claim(m, node);
    if (object_is_deleting(node) || check_has_taint(node, "ToBeDeletedByClusterAutoscaler"))
        return; /* Ostler no longer reports its state */
    json_object_set_new(m->said, state,
                        json_integer(json_integer_value(json_object_get(m->said, state)) + 1));
    if (!has_gpu(node, report) || !check_is_wanted(m->policy, node))
        return;
    count_wanted(m, node, state);
    const char *wrong = *state ? wrong_of_node(m, node, state) : "it has no report";
    if (wrong)
        check_failed(m->v, INVARIANT_L8_MOMENTS, "%s is said to be %s: %s", object_name(node),
                     state, wrong);
    if (*state && !str_eq(state, "ForeignStack") && !str_eq(state, "Removing"))
        look_at_health(m, node, report);
    if (*state && !str_eq(state, "ForeignStack") &&
        str_eq(check_condition(node, "GpuReady"), "True") != str_eq(state, "Ready"))
        check_failed(m->v, INVARIANT_L8_MOMENTS,
                     "%s: its condition GpuReady is %s, its report says %s", object_name(node),
                     check_condition(node, "GpuReady"), state);
}

/* ---- the policy's status */

static int64_t said_state(const struct moment *m, const char *state)
{
    return json_integer_value(json_object_get(m->said, state));
}

static int64_t counted_state(const struct moment *m, const char *state)
{
    const json_t *entry = json_find(json_at(m->status, "nodes.states"), "state", state);
    return json_int(entry, "count", 0);
}

static void expect(struct moment *m, const char *what, int64_t said, int64_t is)
{
    if (said != is)
        check_failed(m->v, INVARIANT_L8_MOMENTS, "%s is %lld, and the status says %lld", what,
                     (long long) is, (long long) said);
}

static void check_numbers(struct moment *m)
{
    static const char *const states[] = { "Discovered", "Installing",   "Waiting",     "Draining",
                                          "Unloading",  "Validating",   "Ready",       "Failed",
                                          "Lost",       "ForeignStack", "Unsupported", "Removing",
                                          "Unhealthy",  "Resetting",    "Rebooting" };
    expect(m, "nodes.total", json_int(m->status, "nodes.total", -1), m->nodes);
    int64_t gpu = json_int(m->status, "nodes.gpu", -1);
    if (gpu < m->gpu || gpu > m->maybe_gpu)
        check_failed(m->v, INVARIANT_L8_MOMENTS, "%lld nodes have a GPU, and the status says %lld",
                     (long long) m->gpu, (long long) gpu);
    expect(m, "nodes.ready", json_int(m->status, "nodes.ready", -1), said_state(m, "Ready"));
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        expect(m, states[i], counted_state(m, states[i]), said_state(m, states[i]));
    if (!json_at(m->status, "rollout"))
        return;
    expect(m, "rollout.active", json_int(m->status, "rollout.active", -1), m->changing);
    expect(m, "rollout.waiting", json_int(m->status, "rollout.waiting", -1), m->waiting);
    int64_t failed = json_int(m->status, "rollout.failed", -1);
    if (failed < m->closed_failed || failed > m->failed)
        check_failed(m->v, INVARIANT_L8_MOMENTS,
                     "%lld claims have failed, and rollout.failed is %lld", (long long) m->failed,
                     (long long) failed);
}

/* Reasons of Ready that say why not all is known, or is acted on. */
static bool is_told_apart(const char *reason)
{
    static const char *const reasons[] = { "InvalidSpec", "Detecting", "NoDetector", "Removing" };
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_eq(reasons[i], reason))
            return true;
    return false;
}

static const json_t *condition_of(const struct moment *m, const char *type)
{
    return json_find(json_at(m->status, "conditions"), "type", type);
}

static void expect_condition(struct moment *m, const char *type, bool is, const char *why)
{
    const char *said = json_str_or_empty(condition_of(m, type), "status");
    if (!str_eq(said, is ? "True" : "False"))
        check_failed(m->v, INVARIANT_L8_MOMENTS, "%s is %s (%s), and %s", type, said,
                     json_str_or_empty(condition_of(m, type), "reason"), why);
}

/* Operands of a node that is up may come and go while it is Ready: what its report says of that was
 * checked with the node. */
static void check_conditions(struct moment *m)
{
    /* A node that is closed for a fault works, as far as the policy is concerned. */
    int64_t works = said_state(m, "Ready") + m->unhealthy,
            served = m->up - said_state(m, "ForeignStack");
    int64_t failed = said_state(m, "Failed") + said_state(m, "Unsupported");
    bool unsure = m->gpu != m->maybe_gpu, removing = said_state(m, "Removing") > 0;
    const char *reason = json_str_or_empty(condition_of(m, "Ready"), "reason");
    expect_condition(m, "RollingOut", m->changing + m->waiting > 0,
                     "that is whether nodes are under way");
    if (failed || m->unhealthy)
        expect_condition(m, "Degraded", true, "nodes have failed, or are closed for a fault");
    if (is_told_apart(reason) || unsure)
        return;
    expect_condition(m, "Ready", works + m->moving >= served,
                     "that is whether all nodes are ready, closed for a fault or on their way");
    expect_condition(
        m, "Reconciling", works + m->moving < served || removing,
        "that is whether nodes are neither ready, closed for a fault nor on their way, or "
        "being released");
    /* others' nodes have none of our operands */
    bool broken = m->broken > said_state(m, "ForeignStack");
    if (str_eq(reason, "AllNodesReady") && (m->changing || m->waiting || m->failed || broken))
        check_failed(m->v, INVARIANT_L8_MOMENTS,
                     "the headline says AllNodesReady while nodes are under way, or do not work");
}

static void check_summary(struct moment *m)
{
    const char *headline = json_str_or_empty(condition_of(m, "Ready"), "message");
    const char *summary = json_str_or_empty(m->status, "summary.message");
    size_t same = 0;
    while (summary[same] && summary[same] == headline[same])
        same++;
    if (same < strlen(headline) && same < 64)
        check_failed(m->v, INVARIANT_L8_MOMENTS, "summary.message is not the message of Ready: %s",
                     summary);
}

void check_moment(struct invariants *v)
{
    struct moment m = { .v = v, .policy = check_policy(v) };
    const struct kind *nodes = kind_named("nodes");
    if (!m.policy || object_is_deleting(m.policy) || v->run->plan->deny_verb)
        return;
    m.status = json_at(m.policy, "status");
    /* It works on nothing until a person acts, and says so; what else it says is of before. */
    if (str_eq(json_str(condition_of(&m, "Ready"), "reason"), "CRDOutdated"))
        return;
    check_tried(v, INVARIANT_L8_MOMENTS);
    expect(&m, "the generation", json_int(m.status, "observedGeneration", 0),
           object_generation(m.policy));
    m.said = json_object();
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++)
        look_at_node(&m, api_at(v->run->api, nodes, i));
    check_numbers(&m);
    check_conditions(&m);
    check_summary(&m);
    json_decref(m.said);
}
