/* What Ostler says of faults of GPUs, and that with mode Observe it does no more than that: judged
 * by the reports of the nodes' agents, with tables of its own. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

/* The levels as the status has them; those from Reboot on are the same here. */
static const char *const levels[] = { "", "Event", "ResetWhenIdle", "Close", "Reboot", "Human" };

/* Facts by NVML that hold, and what each asks for: at least, and at most. */
static const struct {
    const char *field, *value; /* NULL: true */
    int least, most;
} facts[] = {
    { "lost", NULL, LEVEL_REBOOT, LEVEL_REBOOT },
    { "hangs", NULL, LEVEL_CLOSE, LEVEL_CLOSE },
    { "remapFailed", NULL, LEVEL_REBOOT, LEVEL_REBOOT },
    { "sramExceeded", NULL, LEVEL_REBOOT, LEVEL_REBOOT },
    { "remapPending", NULL, LEVEL_RESET_WHEN_IDLE, LEVEL_RESET_WHEN_IDLE },
    { "recovery", "Reset", LEVEL_CLOSE, LEVEL_CLOSE },
    { "recovery", "Reboot", LEVEL_REBOOT, LEVEL_REBOOT },
    { "recovery", "DrainPeers", LEVEL_EVENT, LEVEL_CLOSE },
    { "recovery", "DrainAndReset", LEVEL_RESET_WHEN_IDLE, LEVEL_RESET_WHEN_IDLE },
    { "recovery", "RecoverDomain", LEVEL_EVENT, LEVEL_REBOOT },
    { "fabric", "Unhealthy", LEVEL_CLOSE, LEVEL_CLOSE },
};

/* Xids that are the program's own, or say nothing by themselves. */
static const int quiet_xids[] = { 13, 31, 43, 45, 154 };

enum { XID_ACTION = 154, NVLINK5_UNITS_LAST = 149, NEW_DRIVER_S = 60 };

/* Xids that may ask for CLOSE or more, and whether the driver's word covers them (NVIDIA's
 * catalogue). A reset and a new driver end none that asks for more than CLOSE. */
static const struct {
    int first, last, level;
    bool worded;
} xids[] = {
    { 46, 46, LEVEL_CLOSE, false },    { 48, 48, LEVEL_CLOSE, true },
    { 54, 54, LEVEL_REBOOT, false },   { 62, 62, LEVEL_CLOSE, true },
    { 64, 64, LEVEL_CLOSE, true },     { 74, 74, LEVEL_CLOSE, true },
    { 79, 79, LEVEL_REBOOT, false },   { 95, 95, LEVEL_CLOSE, true },
    { 109, 110, LEVEL_CLOSE, true },   { 119, 119, LEVEL_CLOSE, false },
    { 120, 120, LEVEL_CLOSE, true },   { 136, 136, LEVEL_CLOSE, true },
    { 140, 140, LEVEL_CLOSE, false },  { 142, 142, LEVEL_REBOOT, false },
    { 143, 146, LEVEL_CLOSE, true },   { 149, 150, LEVEL_CLOSE, true },
    { 151, 151, LEVEL_REBOOT, false }, { 155, 155, LEVEL_CLOSE, true },
    { 158, 158, LEVEL_CLOSE, true },
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* ---- by NVML and the bus */

static int level_of_fact(const json_t *gpu, bool most)
{
    int level = json_int(gpu, "doubleBitErrors", 0) > 0 ? LEVEL_EVENT : LEVEL_NONE;
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        bool holds = facts[i].value ? str_eq(json_str(gpu, facts[i].field), facts[i].value)
                                    : json_bool(gpu, facts[i].field, false);
        if (holds)
            level = larger(level, most ? facts[i].most : facts[i].least);
    }
    return level;
}

bool check_is_hard(const json_t *inventory)
{
    JSON_EACH (gpu, json_object_get(inventory, "gpus"))
        if (str_eq(json_str(gpu, "bus"), "Silent") || str_eq(json_str(gpu, "bus"), "Gone"))
            return true;
    return false;
}

static int level_of_facts(const json_t *inventory, bool most)
{
    int level = check_is_hard(inventory) ? LEVEL_REBOOT : LEVEL_NONE;
    JSON_EACH (gpu, json_object_get(inventory, "health"))
        level = larger(level, level_of_fact(gpu, most));
    return level;
}

int check_level_at_least(const json_t *inventory)
{
    return level_of_facts(inventory, false);
}

bool check_nvml_speaks(const json_t *inventory)
{
    size_t gpus = json_array_size(json_object_get(inventory, "gpus"));
    return gpus && json_array_size(json_object_get(inventory, "health")) == gpus;
}

/* ---- by the log */

static bool is_quiet_xid(int64_t xid)
{
    for (size_t i = 0; i < ARRAY_LEN(quiet_xids); i++)
        if (quiet_xids[i] == xid)
            return true;
    return false;
}

static bool is_of_this_boot(const json_t *inventory, const json_t *fault)
{
    return str_eq(json_str(fault, "bootId"), json_str(inventory, "bootId"));
}

/* Whether this boot's log has a fault from after that time, which may ask for anything. */
static bool has_log(const json_t *inventory, int64_t after_us)
{
    JSON_EACH (fault, json_object_get(inventory, "faults"))
        if (is_of_this_boot(inventory, fault) && !is_quiet_xid(json_int(fault, "xid", 0)) &&
            clock_parse_rfc3339(json_str_or_empty(fault, "last")) > after_us)
            return true;
    return false;
}

/* The most that a line asks for; `*ret_worded`: the driver's word decides that. */
static int level_of_line(const json_t *fault, bool *ret_worded)
{
    int64_t xid = json_int(fault, "xid", 0);
    bool mild = xid >= 144 && xid <= NVLINK5_UNITS_LAST && !json_bool(fault, "fatal", false);
    *ret_worded = true;
    if (json_bool(fault, "nvswitch", false) || mild)
        return LEVEL_EVENT;
    if (xid == XID_ACTION)
        return level_of_fact(fault, true);
    for (size_t i = 0; i < ARRAY_LEN(xids); i++)
        if (xids[i].first <= xid && xid <= xids[i].last) {
            *ret_worded = xids[i].worded;
            return xids[i].level;
        }
    return LEVEL_EVENT;
}

/* What NVML says must happen to the GPU of a line. */
static bool is_done_with(const json_t *inventory, const json_t *fault)
{
    const json_t *gpu = json_find(json_object_get(inventory, "health"), "address",
                                  json_str_or_empty(fault, "address"));
    return str_eq(json_str(gpu, "recovery"), "None");
}

int check_level_at_most(const json_t *inventory)
{
    int level = level_of_facts(inventory, true);
    bool worded;
    JSON_EACH (fault, json_object_get(inventory, "faults"))
        if (is_of_this_boot(inventory, fault))
            level = larger(level, level_of_line(fault, &worded));
    return level;
}

int64_t check_driver_us(const struct invariants *v, const char *node)
{
    const struct kind *pods = kind_named("pods");
    int64_t newest_us = -1;
    for (size_t i = 0; i < api_count(v->run->api, pods); i++) {
        const json_t *pod = api_at(v->run->api, pods, i);
        int64_t made_us = clock_parse_rfc3339(json_str_or_empty(pod, "metadata.creationTimestamp"));
        if (str_eq(json_str(pod, "spec.nodeName"), node) &&
            str_eq(object_namespace(pod), OPERAND_NAMESPACE) &&
            str_eq(object_label(pod, LABEL_COMPONENT), "driver") &&
            str_eq(check_condition(pod, "Ready"), "True") && made_us > newest_us)
            newest_us = made_us;
    }
    return newest_us;
}

int check_level_settled(const json_t *inventory, int64_t driver_us)
{
    int level = level_of_facts(inventory, true);
    JSON_EACH (fault, json_object_get(inventory, "faults")) {
        bool worded;
        int asks = level_of_line(fault, &worded);
        int64_t last_us = clock_parse_rfc3339(json_str_or_empty(fault, "last"));
        bool ended = asks <= LEVEL_CLOSE && driver_us >= 0 &&
                     last_us <= driver_us + NEW_DRIVER_S * INT64_C(1000000);
        if (is_of_this_boot(inventory, fault) && !ended &&
            !(worded && is_done_with(inventory, fault)))
            level = larger(level, asks);
    }
    return level;
}

/* ---- H2, H3 */

static int level_said(const json_t *report)
{
    const char *said = json_str_or_empty(report, "status.health.level");
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (str_eq(levels[i], said))
            return (int) i;
    return -1;
}

/* Whether NVML says nothing about a fact that no boot and no driver repairs: then it stands. */
static bool stands_unasked(const json_t *report)
{
    const char *reason = json_str(report, "status.health.reason");
    bool lasts = str_eq(reason, "RowRemapFailed") || str_eq(reason, "SramErrors");
    return lasts && json_array_size(json_at(report, "status.inventory.health")) == 0;
}

bool check_has_faults(const struct invariants *v)
{
    return spec_has_faults(&v->run->life->scenario->world);
}

const json_t *check_inventory(const struct invariants *v, const char *node)
{
    return json_at(api_get(v->run->api, kind_named("gpunodes"), NULL, node), "status.inventory");
}

const json_t *check_report_of(const struct invariants *v, const json_t *node)
{
    const json_t *policy = check_policy(v);
    const json_t *report = api_get(v->run->api, kind_named("gpunodes"), NULL, object_name(node));
    bool speaks = report && policy && !object_is_deleting(policy) && !v->run->plan->deny_verb &&
                  check_is_wanted(policy, node) &&
                  json_object_get(json_at(report, "status"), "state");
    return speaks && str_eq(json_str(report, "status.inventory.bootId"),
                            json_str(node, "status.nodeInfo.bootID"))
               ? report
               : NULL;
}

/* What a log told until then counts no longer: a newer driver came, or the node's claim ended just
 * then, or is still there. */
static int64_t log_counts_from_us(const struct invariants *v, const json_t *node)
{
    const struct sim *sim = &v->run->sim;
    int64_t driver_us = check_driver_us(v, object_name(node)),
            claimed_ms = check_noted(&v->faults.claimed, object_name(node)),
            claimed_us = claimed_ms < 0 ? 0 : sim_wall_us(sim, claimed_ms);
    if (driver_us < 0 || object_annotation(node, ANNOTATION_CLAIM))
        return INT64_MAX;
    return (driver_us > claimed_us ? driver_us : claimed_us) + NEW_DRIVER_S * INT64_C(1000000);
}

bool check_silence_may_be_of_a_change(const struct invariants *v, const json_t *node,
                                      const json_t *inventory)
{
    const struct sim *sim = &v->run->sim;
    bool hangs = false;
    JSON_EACH (gpu, json_object_get(inventory, "health"))
        hangs |= json_bool(gpu, "hangs", false);
    return hangs && sim_wall_us(sim, sim->now_ms) < log_counts_from_us(v, node);
}

static void look_at_health(struct invariants *v, const json_t *node)
{
    const json_t *report = check_report_of(v, node);
    const json_t *inventory = json_at(report, "status.inventory");
    if (!report || check_silence_may_be_of_a_change(v, node, inventory))
        return;
    int least = check_level_at_least(inventory), said = level_said(report);
    if (least == LEVEL_NONE && !has_log(inventory, 0)) {
        bool silent = object_annotation(node, ANNOTATION_CLAIM) && !check_nvml_speaks(inventory);
        if (silent || stands_unasked(report))
            return;
        check_tried(v, INVARIANT_H3_GONE);
        if (said != LEVEL_NONE)
            check_failed(v, INVARIANT_H3_GONE, "%s: its report says %s", object_name(node),
                         json_str_or_empty(report, "status.health.reason"));
        return;
    }
    if (least == LEVEL_NONE && !has_log(inventory, log_counts_from_us(v, node)))
        return;
    check_tried(v, INVARIANT_H2_SEEN);
    if (said < larger(least, LEVEL_EVENT))
        check_failed(v, INVARIANT_H2_SEEN, "%s: its report says \"%s\", and it is %s at least",
                     object_name(node), json_str_or_empty(report, "status.health.level"),
                     levels[larger(least, LEVEL_EVENT)]);
}

void check_health(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; check_has_faults(v) && i < api_count(v->run->api, nodes); i++)
        look_at_health(v, api_at(v->run->api, nodes, i));
}

/* ---- nothing is done for a fault */

static size_t count_taints(const json_t *node)
{
    return json_array_size(json_at(node, "spec.taints"));
}

bool check_is_faulty(const struct invariants *v, const char *node)
{
    const json_t *inventory = check_inventory(v, node);
    struct actors_machine m;
    return (actors_machine(v->run->actors, node, &m) && m.faulty > 0) ||
           check_level_at_least(inventory) > LEVEL_NONE || has_log(inventory, 0);
}

const char *check_health_mode(const json_t *policy)
{
    const char *mode = json_str(policy, "spec.health.mode");
    return !policy || object_is_deleting(policy) ? "" : mode ? mode : "Close";
}

bool check_is_sent_away(const struct api_commit *c)
{
    bool of_user = check_is_kind(c->kind, "pods") && c->before &&
                   json_str(c->before, "spec.nodeName") &&
                   !str_eq(object_namespace(c->before), OPERAND_NAMESPACE);
    return of_user &&
           (!c->after || (object_is_deleting(c->after) && !object_is_deleting(c->before)));
}

/* In a life with mode Observe no driver changes: there is no other reason to close a node, to claim
 * it or to send pods away. */
void check_observe(struct invariants *v, const struct api_commit *c)
{
    if (!check_has_faults(v) || !str_eq(check_health_mode(check_policy(v)), "Observe") ||
        !c->before)
        return;
    if (check_is_kind(c->kind, "nodes") && c->after && check_is_faulty(v, object_name(c->after))) {
        check_tried(v, INVARIANT_H1_OBSERVE);
        if (count_taints(c->after) > count_taints(c->before) ||
            (object_annotation(c->after, ANNOTATION_CLAIM) &&
             !object_annotation(c->before, ANNOTATION_CLAIM)))
            check_failed(v, INVARIANT_H1_OBSERVE, "%s is closed or claimed", object_name(c->after));
    }
    if (check_is_sent_away(c))
        check_failed(v, INVARIANT_H1_OBSERVE, "%s is sent away from %s", object_name(c->before),
                     json_str(c->before, "spec.nodeName"));
}
