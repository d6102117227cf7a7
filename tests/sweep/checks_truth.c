/* What must be so in a cluster at rest, read from the policy's text, the nodes and the machines
 * alone: Ostler's own ideas of it do not count, since a run that is wrong is compared with one that
 * is wrong in the same way. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

/* What Node Feature Discovery says of the hardware. */
#define LABEL_HARDWARE "feature.node.kubernetes.io/pci-10de.present"
#define LABEL_OPENSHIFT "node.openshift.io/os_id" /* there Ostler serves no node yet */
#define TAINT_KEY "nvidia.com/gpu"                /* where the policy names none */

/* Where agents run, no other client need report what is in a machine: the agent's report counts,
 * and what the kubelet has to give. */
static bool has_gpu(const struct invariants *v, const json_t *node)
{
    struct actors_machine m = { 0 };
    bool seen = v->run->life->scenario->agents &&
                actors_machine(v->run->actors, object_name(node), &m) && (m.seen || m.gpus);
    return seen || str_eq(object_label(node, LABEL_HARDWARE), "true");
}

static bool is_let_go(const json_t *node)
{
    const char *managed = object_label(node, LABEL_MANAGED);
    return str_eq(managed, "false") ||
           (!str_eq(managed, "true") && str_eq(object_label(node, LABEL_DEPLOY_OPERANDS), "false"));
}

static bool is_selected(const json_t *policy, const json_t *node)
{
    struct selector selector;
    if (selector_compile(json_at(policy, "spec.nodes.selector"), &selector, NULL) < 0)
        return false;
    bool selected = selector_matches(&selector, selector_lookup_json,
                                     json_at(node, "metadata.labels"));
    selector_clear(&selector);
    return selected;
}

bool check_is_wanted(const json_t *policy, const json_t *node)
{
    return !is_let_go(node) && is_selected(policy, node);
}

/* Whether the kubelet of a node gives out GPUs: where agents report them, all of them. */
static bool is_served(const struct invariants *v, const struct actors_machine *m)
{
    return m->gpus > 0 && (!v->run->life->scenario->agents || m->gpus >= m->built_in);
}

/* Whether a DRA driver publishes the GPUs of a node on which Ostler has no stack yet. */
static bool is_published(const struct invariants *v, const json_t *node)
{
    const struct kind *slices = kind_named("resourceslices");
    for (size_t i = 0; i < api_count(v->run->api, slices); i++)
        if (str_eq(json_str(api_at(v->run->api, slices, i), "spec.nodeName"), object_name(node)))
            return !object_label(node, LABEL_STACK);
    return false;
}

static bool is_foreign(const struct invariants *v, const json_t *node)
{
    struct actors_machine m = { 0 };
    return (actors_machine(v->run->actors, object_name(node), &m) && m.foreign) ||
           is_published(v, node);
}

/* By Ostler: it leaves a node alone that another device plugin serves. */
static bool is_wanted(const struct invariants *v, const json_t *policy, const json_t *node)
{
    return has_gpu(v, node) && check_is_wanted(policy, node) && !is_foreign(v, node);
}

/* Whether a label or an agent says that it has a GPU. Agents run on nodes that the policy wants,
 * and their reports stay. */
static bool is_known(const struct invariants *v, const json_t *policy, const json_t *node)
{
    const json_t *report = api_get(v->run->api, kind_named("gpunodes"), "", object_name(node));
    return str_eq(object_label(node, LABEL_HARDWARE), "true") || is_wanted(v, policy, node) ||
           json_array_size(json_at(report, "status.inventory.gpus")) > 0;
}

/* What is wrong with the marks of a node that the policy wants; NULL: nothing. */
static const char *wrong_of_wanted(const struct invariants *v, const json_t *policy,
                                   const json_t *node)
{
    const char *key = json_string_value(reading_taint(policy, node, "key")), *label;
    json_t *value;
    struct actors_machine m = { 0 };
    if (!object_label(node, LABEL_GPU_PRESENT))
        return "it does not bear the label of a GPU node";
    json_object_foreach (json_at(policy, "spec.nodes.labels"), label, value)
        if (!object_label(node, label))
            return "a label of the policy is not there";
    if (json_is_false(reading_taint(policy, node, "enabled")) ==
        check_has_taint(node, key ? key : TAINT_KEY))
        return "the policy's taint is not as it says";
    if (str_eq(check_condition(node, "Ready"), "True") &&
        actors_machine(v->run->actors, object_name(node), &m) && m.gpus + m.withheld == 0 &&
        m.built_in > 0 && !object_label(node, LABEL_OPENSHIFT))
        return "its kubelet has no GPU to give";
    return NULL;
}

/* What is wrong with a node that Ostler has nothing to do with. One on which a GPU pod runs is let
 * go when that is over. */
static const char *wrong_of_others(const struct invariants *v, const json_t *node)
{
    const char *key = object_annotation(node, ANNOTATION_MARKS) ? "it still says what Ostler set"
                                                                : NULL;
    if (object_label(node, LABEL_DRIVER) || object_label(node, LABEL_STACK) ||
        object_label(node, LABEL_REMOVAL) || object_label(node, LABEL_EXPORTER) ||
        object_label(node, LABEL_NODE_CARDS))
        key = "it is still assigned operands";
    const struct kind *pods = kind_named("pods");
    for (size_t i = 0; key && i < api_count(v->run->api, pods); i++) {
        const json_t *pod = api_at(v->run->api, pods, i);
        const json_t *limits = json_at(json_array_get(json_at(pod, "spec.containers"), 0),
                                       "resources.limits");
        if (str_eq(json_str(pod, "spec.nodeName"), object_name(node)) &&
            json_object_get(limits, RESOURCE_GPU))
            return NULL;
    }
    return key;
}

/* The same of a node that another device plugin serves. */
static const char *wrong_of_foreign(const json_t *policy, const json_t *node)
{
    const char *key = json_str(policy, "spec.nodes.taint.key");
    if (object_label(node, LABEL_DRIVER) || object_label(node, LABEL_STACK) ||
        object_label(node, LABEL_REMOVAL))
        return "another device plugin serves it, and it is assigned operands";
    if (!json_bool(policy, "spec.nodes.taint.foreign", false) &&
        object_annotation(node, ANNOTATION_MARKS) &&
        strstr(object_annotation(node, ANNOTATION_MARKS), key ? key : TAINT_KEY ":No"))
        return "another device plugin serves it, and it bears Ostler's taint";
    return NULL;
}

static const char *wrong_of(const struct invariants *v, const json_t *policy, const json_t *node)
{
    if (is_foreign(v, node))
        return wrong_of_foreign(policy, node);
    return is_wanted(v, policy, node) ? wrong_of_wanted(v, policy, node) : wrong_of_others(v, node);
}

/* The policy, when what it says is to be held against what is there; else NULL. */
static const json_t *policy_in_force(const struct invariants *v)
{
    const json_t *policy = check_policy(v);
    bool in_force = policy && !object_is_deleting(policy) && !v->run->plan->deny_verb &&
                    !life_is_broken(v->run->life, policy);
    return in_force ? policy : NULL;
}

/* A driver that runs stays assigned while the policy wants the node, whatever else the policy says,
 * valid or not; unless the node is claimed for another one. */
void check_kept(struct invariants *v, const struct api_commit *c)
{
    static const char *const assignment[] = { LABEL_DRIVER, LABEL_STACK };
    const json_t *policy = policy_in_force(v);
    struct actors_machine m;
    if (!policy || !check_is_kind(c->kind, "nodes") || !c->before || !c->after ||
        !is_wanted(v, policy, c->after) ||
        !actors_machine(v->run->actors, object_name(c->after), &m) || !m.digest ||
        object_annotation(c->after, ANNOTATION_CLAIM))
        return;
    check_tried(v, INVARIANT_S3_KEPT);
    for (size_t i = 0; i < ARRAY_LEN(assignment); i++)
        if (object_label(c->before, assignment[i]) && !object_label(c->after, assignment[i]))
            check_failed(v, INVARIANT_S3_KEPT, "%s of %s", assignment[i], object_name(c->after));
}

void check_marks(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    const json_t *policy = policy_in_force(v);
    for (size_t i = 0; policy && i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        if (object_is_deleting(node))
            continue;
        check_tried(v, INVARIANT_L1_MARKS);
        const char *wrong = wrong_of(v, policy, node);
        if (wrong)
            check_failed(v, INVARIANT_L1_MARKS, "%s: %s", object_name(node), wrong);
    }
}

void check_status_truth(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    const json_t *policy = policy_in_force(v);
    int64_t gpu = 0, served = 0, doubted = 0, most = 0;
    if (!policy)
        return;
    check_tried(v, INVARIANT_L8_STATUS);
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        struct actors_machine m = { 0 };
        gpu += is_known(v, policy, node);
        if (is_wanted(v, policy, node) && str_eq(check_condition(node, "Ready"), "True") &&
            actors_machine(v->run->actors, object_name(node), &m)) {
            served += is_served(v, &m) && !check_is_unhealthy(node);
            /* A GPU that is withheld, and the others go on. */
            bool withheld = check_is_on_record(node) && !check_is_unhealthy(node);
            most += withheld && !is_served(v, &m);
            doubted += (m.gpus > 0 && m.lies) || (withheld && is_served(v, &m));
        }
    }
    const json_t *said = json_at(policy, "status.nodes");
    int64_t ready = json_int(said, "ready", -1);
    if (json_int(said, "gpu", -1) != gpu || ready > served + most || ready < served - doubted) {
        CLEANUP_FREE char *text = json_compact(said);
        check_failed(v, INVARIANT_L8_STATUS, "%lld nodes have a GPU, %lld are served: %s",
                     (long long) gpu, (long long) served, text);
    }
}

/* What is wrong with what is said to happen next; NULL: nothing. A node at rest has no next step:
 * it is ready, runs what it is meant to, and that is what the policy asks for. */
static const char *wrong_of_next(const json_t *report)
{
    static const char *const parts[] = { "status.driver", "status.stack" };
    const json_t *next = json_at(report, "status.next");
    bool rest = str_eq(json_str(report, "status.state"), "Ready") &&
                !gpu_node_falls_back(json_object_get(report, "status"));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const json_t *tier = json_at(report, parts[i]);
        const char *runs = json_str(tier, "revision"), *target = json_str(tier, "target");
        rest = rest && (!runs || !target || str_eq(runs, target));
    }
    if (str_eq(json_str(report, "status.state"), "ForeignStack"))
        rest = true;
    if (str_eq(json_str(report, "status.state"), "Unhealthy"))
        return NULL; /* what is to happen is in status.health */
    if (rest)
        return next ? "its report says what happens next, and nothing is to happen" : NULL;
    return *json_str_or_empty(next, "reason") ? NULL : "its report does not say what happens next";
}

/* What is wrong with what is said of a node that the policy wants; NULL: nothing. */
static const char *wrong_of_report(const struct invariants *v, const json_t *policy,
                                   const json_t *node)
{
    const json_t *report = api_get(v->run->api, kind_named("gpunodes"), NULL, object_name(node));
    const char *state = json_str_or_empty(report, "status.state");
    struct actors_machine m = { 0 };
    bool up = str_eq(check_condition(node, "Ready"), "True");
    bool serves = actors_machine(v->run->actors, object_name(node), &m) && is_served(v, &m);
    if (!report)
        return "it has no report";
    if (!str_eq(json_str(json_array_get(json_at(report, "metadata.ownerReferences"), 0), "uid"),
                object_uid(node)))
        return "its report is another node's";
    if (!str_eq(json_str_or_empty(report, "status.driver.revision"),
                str_or_empty(object_label(node, LABEL_DRIVER))))
        return "its report names another driver revision";
    if (str_eq(state, "Unhealthy") && !check_is_unhealthy(node))
        return "its report says that it is closed for a fault, and it is not";
    if (check_is_unhealthy(node))
        return str_eq(state, "Ready") ? "it is closed for a fault, and its report says Ready"
                                      : NULL;
    if (check_is_on_record(node))
        return NULL; /* a GPU is withheld: the others go on */
    /* Where operands break on purpose a GPU may be served by what is not as it should be; and an
     * agent that lies may say so. */
    if (!life_is_broken(v->run->life, policy) && !m.lies &&
        (str_eq(state, "Ready") != (up && serves) || str_eq(state, "Lost") == up))
        return "its report has the wrong state";
    if (str_eq(check_condition(node, NODE_CONDITION), "True") != str_eq(state, "Ready"))
        return "its condition says something else than its report";
    return wrong_of_next(report);
}

void check_report_truth(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    const json_t *policy = v->run->plan->deny_verb ? NULL : check_policy(v);
    if (object_is_deleting(policy))
        return;
    for (size_t i = 0; policy && i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        if (object_is_deleting(node) || !is_wanted(v, policy, node))
            continue;
        check_tried(v, INVARIANT_L8_REPORTS);
        const char *wrong = wrong_of_report(v, policy, node);
        if (wrong)
            check_failed(v, INVARIANT_L8_REPORTS, "%s: %s", object_name(node), wrong);
    }
}

/* In the form that is stored, which is the older one. */
static bool is_same_event(const json_t *a, const json_t *b)
{
    static const char *const parts[] = { "eventTime", "reason", "involvedObject.uid", "message" };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!str_eq(json_str_or_empty(a, parts[i]), json_str(b, parts[i])))
            return false;
    return true;
}

/* To the microsecond: one that comes again tells of something that was again. */
void check_events(struct invariants *v, const struct api_commit *c)
{
    if (!check_is_kind(c->kind, "events") || c->before)
        return;
    check_tried(v, INVARIANT_S12_EVENTS);
    for (size_t i = 0; i < api_count(v->run->api, c->kind); i++) {
        const json_t *other = api_at(v->run->api, c->kind, i);
        if (!str_eq(object_name(other), object_name(c->after)) && is_same_event(other, c->after))
            check_failed(v, INVARIANT_S12_EVENTS, "%s is %s", object_name(c->after),
                         object_name(other));
    }
}
