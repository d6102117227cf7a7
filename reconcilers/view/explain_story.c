/* How a node came to its state, from Events, conditions and its upgrade lock. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/view/events.h"
#include "reconcilers/view/explain.h"
#include "reconcilers/view/explain_pool.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/xid.h"

enum { US = 1000000 };

static void add_step(json_t *story, const char *time, const char *what, bool warning,
                     json_t *text_steal)
{
    if (time && clock_parse_rfc3339(time) >= 0)
        json_array_append_new(story,
                              json_pack("{s:o, s:s, s:o, s:b}", "time", json_text(time), "what",
                                        what, "text", text_steal, "warning", warning));
    else
        json_decref(text_steal);
}

static void add_step_at(json_t *story, int64_t at_s, const char *what, bool warning,
                        json_t *text_steal)
{
    char time[CLOCK_TEXT_MAX];
    clock_rfc3339(at_s * US, time);
    add_step(story, time, what, warning, text_steal);
}

/* ---- the node */

/* A condition of Ostler's: it is well if it is True. */
static void describe_condition(json_t *story, const json_t *conditions, const char *type)
{
    const json_t *c = condition_find(conditions, type);
    const char *status = json_str_or_empty(c, "status");
    if (c)
        add_step(story, json_str(c, "lastTransitionTime"), "node", !str_eq(status, "True"),
                 json_textf("%s became %s (its reason today: %s)", type,
                            *status ? status : "Unknown", json_str_or_empty(c, "reason")));
}

static void describe_node(json_t *story, const json_t *node)
{
    const json_t *conditions = json_at(node, "status.conditions"),
                 *ready = condition_find(conditions, "Ready");
    bool up = str_eq(json_str(ready, "status"), "True");
    add_step(story, json_str(node, "metadata.creationTimestamp"), "node", false,
             json_text("the Node was created"));
    if (ready)
        add_step(story, json_str(ready, "lastTransitionTime"), "node", !up,
                 json_textf("its kubelet became %s%s%s%s", up ? "Ready" : "not Ready",
                            up ? "" : " (its message today: ",
                            up ? "" : json_str_or_empty(ready, "message"), up ? "" : ")"));
    describe_condition(story, conditions, NODE_CONDITION);
    describe_condition(story, conditions, NODE_CONDITION_HEALTH);
}

/* Adds when a field was set, and by whom; the setter's text has the time after " at ". */
static void describe_setter(json_t *story, const json_t *object, const char *path, const char *did)
{
    CLEANUP_FREE char *setter = snapshot_setter(object, path);
    char *at = setter ? strstr(setter, " at ") : NULL;
    if (!at)
        return;
    *at = '\0';
    add_step(story, at + strlen(" at "), "people", false, json_textf("%s, by %s", did, setter));
}

static void describe_users(json_t *story, const json_t *node, const json_t *policy)
{
    if (json_bool(node, "spec.unschedulable", false))
        describe_setter(story, node, "f:spec f:unschedulable", "the node was cordoned");
    if (snapshot_node_is_held(node))
        describe_setter(story, node, "f:metadata f:labels f:" LABEL_HOLD,
                        "the node was held (" LABEL_HOLD ")");
    if (json_bool(policy, "spec.rollout.paused", false))
        describe_setter(story, policy, "f:spec f:rollout f:paused", "the rollout was paused");
}

/* ---- reports and claims */

static void describe_report(json_t *story, const json_t *report)
{
    static const struct {
        const char *path;
        const char *text;
    } stages[] = {
        { "status.timeToReady.images", "the images of its driver were present" },
        { "status.timeToReady.driver", "its driver was up" },
        { "status.timeToReady.registered", "its kubelet offered GPUs" },
        { "status.timeToReady.proven", "it was Ready for the first time" },
    };
    const char *snapshot = json_str(report, "status.timeToReady.seen");
    int64_t seen_us = snapshot ? clock_parse_rfc3339(snapshot) : -1;
    add_step(story, snapshot, "ostler", false, json_text("Ostler first saw that it has a GPU"));
    for (size_t i = 0; i < ARRAY_LEN(stages) && seen_us >= 0; i++) {
        int64_t seconds = json_int(report, stages[i].path, -1);
        if (seconds >= 0 && seconds < 366LL * 24 * 3600)
            add_step_at(story, seen_us / US + seconds, "ostler", false, json_text(stages[i].text));
    }
    add_step(story, json_str(report, "status.since"), "ostler",
             str_eq(json_str(report, "status.state"), "Failed"),
             json_textf("its state became %s (%s)", json_str_or_empty(report, "status.state"),
                        json_str_or_empty(report, "status.reason")));
}

/* ---- faults of GPUs */

/* "Xid 79 of GPU 0000:65:00.0, 3 times until … (GPU has fallen off the bus)". New reference. */
static json_t *fault_text(const json_t *fault, const struct xid_row *row, bool earlier)
{
    bool nvswitch = json_bool(fault, "nvswitch", false);
    const char *recovery = gpu_recovery_name(gpu_recovery_parse(json_str(fault, "recovery")));
    const char *what = recovery ? recovery : row ? row->name : NULL;
    long long count = snapshot_count(fault, "count");
    CLEANUP_FREE char *times = count > 1 ? xasprintf(", %lld times until %s", count,
                                                     json_str_or_empty(fault, "last"))
                                         : xstrdup("");
    return json_textf("%s %lld of %s %s%s%s%s%s%s%s", nvswitch ? "SXid" : "Xid",
                      snapshot_count(fault, "xid"), nvswitch ? "NVSwitch" : "GPU",
                      json_str_or_empty(fault, "address"), earlier ? ", before the last boot" : "",
                      times, what ? " (" : "", recovery ? "recovery action " : "",
                      str_or_empty(what), what ? ")" : "");
}

/* Lines of the kernel log, and what Ostler concludes from them. */
static void describe_faults(json_t *story, const json_t *report)
{
    const json_t *health = json_at(report, "status.health");
    const char *boot = json_str(report, "status.inventory.bootId");
    JSON_EACH (fault, json_at(report, "status.inventory.faults")) {
        int64_t xid = json_int(fault, "xid", -1);
        bool ours = xid >= 0 && !json_bool(fault, "nvswitch", false);
        const struct xid_row *row = ours ? xid_find((unsigned) xid) : NULL;
        add_step(story, json_str(fault, "first"), "gpu", !row || row->level > HEALTH_NONE,
                 fault_text(fault, row, !str_eq(json_str(fault, "bootId"), boot)));
    }
    JSON_EACH (repair, json_at(health, "repairs"))
        add_step(story, json_str(repair, "at"), "ostler", false,
                 json_textf("a repair began: %s", json_str_or_empty(repair, "kind")));
    if (health)
        add_step(story, json_str(health, "since"), "ostler", true,
                 json_textf("the health of its GPUs became %s (%s)",
                            json_str_or_empty(health, "level"),
                            json_str_or_empty(health, "reason")));
}

/* What Ostler, or a user, has decided about the fault. */
static void describe_record(json_t *story, const json_t *node)
{
    static const char *const texts[FAULT_STATES_LEN] = {
        [FAULT_CLOSED] = "the node was closed for new pods",
        [FAULT_PROVING] = "the fault had ended; a GPU is to be validated",
        [FAULT_IGNORED] = "a user decided to ignore the fault",
        [FAULT_BRAKED] = "the storm brake kept the node open",
    };
    struct fault_record r;
    fault_record_parse(object_annotation(node, ANNOTATION_FAULT), &r);
    bool withheld = r.state == FAULT_CLOSED && !r.tainted;
    if (r.state == FAULT_OVER)
        return;
    add_step_at(story, r.since_s, r.state == FAULT_IGNORED ? "people" : "ostler",
                r.state == FAULT_CLOSED || r.state == FAULT_BRAKED,
                json_textf("%s (%s%s%s)",
                           withheld ? "the device plugin kept pods off the GPU, and the node open"
                                    : texts[r.state],
                           r.reason, *r.address ? " of GPU " : "", r.address));
}

/* What a claim changes or repairs: " of its driver from d1 to d2", " of Xid79 of GPU …"; "":
 * nothing. Owned by the caller. */
static char *change_text(const struct claim *c, const json_t *node)
{
    struct fault_record r;
    enum tier tier = assignment_changes_by(assignment_ref(&c->from), assignment_ref(&c->to));
    if (!assignment_same(assignment_ref(&c->from), assignment_ref(&c->to)))
        return xasprintf(" of its %s from %s to %s", tiers[tier].name, c->from.hash[tier],
                         c->to.hash[tier]);
    fault_record_parse(object_annotation(node, ANNOTATION_FAULT), &r);
    if (!claim_kinds[c->kind].repairs)
        return xstrdup("");
    if (c->asked)
        return xstrdup(" of its GPUs, for which a user asked");
    return *r.reason ? xasprintf(" of %s%s%s", r.reason, *r.address ? " of GPU " : "", r.address)
                     : xstrdup(" of its GPUs");
}

static void describe_claim(json_t *story, const json_t *node)
{
    struct claim c;
    const char *text = object_annotation(node, ANNOTATION_CLAIM);
    if (!text || !claim_parse(text, &c, NULL))
        return;
    CLEANUP_FREE char *change = change_text(&c, node);
    add_step_at(story, c.claimed_s, "claim", false,
                json_textf("taken out of service: %s%s, attempt %u", claim_kinds[c.kind].name,
                           change, c.attempt));
    add_step_at(story, c.since_s, "claim", c.phase == CLAIM_FAILED,
                json_textf("phase %s began%s%s", claim_phase_name(c.phase), *c.reason ? ": " : "",
                           c.reason));
}

/* ---- pods and events */

static void describe_containers(json_t *story, const json_t *statuses, const char *pod)
{
    JSON_EACH (status, statuses) {
        const json_t *ended = json_at(status, "lastState.terminated");
        ended = ended ? ended : json_at(status, "state.terminated");
        if (ended && json_int(ended, "exitCode", 0) != 0)
            add_step(story, json_str(ended, "finishedAt"), "pod", true,
                     json_textf("container %s of %s ended with %lld (%s)",
                                json_str_or_empty(status, "name"), pod,
                                (long long) json_int(ended, "exitCode", 0),
                                json_str_or_empty(ended, "reason")));
    }
}

/* Its containers fail on purpose once their images are there: that is no news. */
static bool only_pulls(const json_t *pod)
{
    return str_eq(object_label(pod, LABEL_TASK), "pull");
}

static void describe_pods(json_t *story, const json_t *pods)
{
    JSON_EACH (pod, pods) {
        const char *operand = object_label(pod, LABEL_COMPONENT), *name = object_name(pod);
        if (!str_eq(object_label(pod, LABEL_MANAGED_BY), MANAGED_BY))
            continue;
        add_step(story, json_str(pod, "metadata.creationTimestamp"), "pod", false,
                 json_textf("pod %s was created%s%s", name, operand ? " for the " : "",
                            str_or_empty(operand)));
        if (only_pulls(pod))
            continue;
        describe_containers(story, json_at(pod, "status.initContainerStatuses"), name);
        describe_containers(story, json_at(pod, "status.containerStatuses"), name);
    }
}

/* Of a pod's Events, only warnings matter: started containers do not explain a node's state. */
static bool explain_story_is_news(const json_t *event)
{
    bool of_pod = str_has_prefix(json_str_or_empty(event, "object"), "Pod ");
    bool meant = strstr(json_str_or_empty(event, "note"), "/ostler-runs-nothing-here") != NULL;
    return !meant && (!of_pod || str_eq(json_str(event, "type"), "Warning"));
}

/* Adds Events about the rollout of the node's pool. Whether the policy is ready does not belong to
 * a node's history. */
static void describe_rollout(json_t *story, const json_t *whole)
{
    CLEANUP_JSON json_t *snapshot = json_pack("{s:O?}", "policyEvents",
                                              json_object_get(whole, "policyEvents"));
    CLEANUP_JSON json_t *rows = events_view(snapshot, &(struct events_wanted){ 0 });
    CLEANUP_FREE char *pool = json_array_size(rows) ? explain_pool(whole) : NULL;
    JSON_EACH (row, rows) {
        const char *word = json_str_or_empty(row, "reason");
        enum reason reason = reason_parse(word);
        if (reason != REASON_READY && reason != REASON_NOT_READY &&
            explain_pool_concerns(pool, json_str_or_empty(row, "note")))
            add_step(story, json_str(row, "time"), "policy",
                     str_eq(json_str(row, "type"), "Warning"),
                     json_textf("%s: %s", word, json_str_or_empty(row, "note")));
    }
}

static void describe_events(json_t *story, const json_t *snapshot, const char *name)
{
    char *names[] = { (char *) name };
    CLEANUP_JSON json_t *events = events_view(
        snapshot, &(struct events_wanted){ .nodes = names, .node_count = 1 });
    JSON_EACH (event, events) {
        int64_t count = json_int(event, "count", 1);
        if (!explain_story_is_news(event))
            continue;
        CLEANUP_FREE char *times = count > 1 ? xasprintf(", %lld times", (long long) count)
                                             : xstrdup("");
        bool of_node = str_has_prefix(json_str_or_empty(event, "object"), "Node ");
        add_step(story, json_str(event, "time"), "event",
                 str_eq(json_str(event, "type"), "Warning"),
                 json_textf("%s%s%s%s: %s", of_node ? "" : json_str_or_empty(event, "object"),
                            of_node ? "" : ": ", json_str_or_empty(event, "reason"), times,
                            json_str_or_empty(event, "note")));
    }
}

/* Entries of the same second keep their order. */
static int by_time(const json_t *a, const json_t *b)
{
    int64_t s = clock_parse_rfc3339(json_str_or_empty(a, "time")) / US;
    int64_t t = clock_parse_rfc3339(json_str_or_empty(b, "time")) / US;
    return (s > t) - (s < t);
}

json_t *explain_story(const json_t *snapshot, const char *name)
{
    const json_t *node = json_object_get(snapshot, "nodes"),
                 *policy = json_object_get(snapshot, "policy");
    json_t *story = json_array();
    describe_node(story, node);
    describe_users(story, node, policy);
    describe_report(story, json_object_get(snapshot, "reports"));
    describe_faults(story, json_object_get(snapshot, "reports"));
    describe_record(story, node);
    describe_claim(story, node);
    describe_pods(story, json_object_get(snapshot, "pods"));
    describe_rollout(story, snapshot);
    describe_events(story, snapshot, name);
    return snapshot_sorted(story, by_time);
}
