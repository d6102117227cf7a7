/* What Ostler says of faults of GPUs, and that it does no more than that: judged by the reports of
 * the nodes' agents, with a table of its own. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

/* The levels, the mildest first. */
static const char *const levels[] = { "", "Event", "ResetWhenIdle", "Close", "Reboot", "Human" };

enum { NOTHING, EVENT, RESET_WHEN_IDLE, CLOSE, REBOOT };

/* Facts by NVML that hold, and the least level that each asks for. */
static const struct {
    const char *field, *value; /* NULL: true */
    int level;
} facts[] = {
    { "lost", NULL, REBOOT },
    { "hangs", NULL, CLOSE },
    { "remapFailed", NULL, REBOOT },
    { "sramExceeded", NULL, REBOOT },
    { "remapPending", NULL, RESET_WHEN_IDLE },
    { "recovery", "Reset", CLOSE },
    { "recovery", "Reboot", REBOOT },
    { "recovery", "DrainPeers", EVENT },
    { "recovery", "DrainAndReset", RESET_WHEN_IDLE },
    { "recovery", "RecoverDomain", EVENT },
    { "fabric", "Unhealthy", CLOSE },
};

/* Xids that are the program's own, or say nothing by themselves. */
static const int quiet_xids[] = { 13, 31, 43, 45, 154 };

static int level_of_fact(const json_t *gpu)
{
    int level = json_int(gpu, "doubleBitErrors", 0) > 0 ? EVENT : NOTHING;
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        bool holds = facts[i].value ? str_eq(json_str(gpu, facts[i].field), facts[i].value)
                                    : json_bool(gpu, facts[i].field, false);
        if (holds && facts[i].level > level)
            level = facts[i].level;
    }
    return level;
}

static bool is_quiet_xid(int64_t xid)
{
    for (size_t i = 0; i < ARRAY_LEN(quiet_xids); i++)
        if (quiet_xids[i] == xid)
            return true;
    return false;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The least level of what an agent reports of this boot of a machine. `*ret_logged`: the kernel log
 * has a fault, which may ask for anything. */
static int level_of_report(const json_t *inventory, bool *ret_logged)
{
    int level = NOTHING;
    *ret_logged = false;
    JSON_EACH (gpu, json_object_get(inventory, "gpus"))
        if (str_eq(json_str(gpu, "bus"), "Silent") || str_eq(json_str(gpu, "bus"), "Gone"))
            level = REBOOT;
    JSON_EACH (gpu, json_object_get(inventory, "health"))
        level = larger(level, level_of_fact(gpu));
    JSON_EACH (fault, json_object_get(inventory, "faults"))
        *ret_logged |= str_eq(json_str(fault, "bootId"), json_str(inventory, "bootId")) &&
                       !is_quiet_xid(json_int(fault, "xid", 0));
    return level;
}

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

static bool has_faults(const struct invariants *v)
{
    return spec_has_faults(&v->run->life->scenario->world);
}

/* A node of which Ostler must say what is wrong: its agent has reported since the boot. */
static const json_t *report_of(const struct invariants *v, const json_t *node)
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

static void look_at_health(struct invariants *v, const json_t *node)
{
    const json_t *report = report_of(v, node);
    bool logged;
    if (!report)
        return;
    int level = level_of_report(json_at(report, "status.inventory"), &logged);
    int said = level_said(report);
    if (level == NOTHING && !logged) {
        if (stands_unasked(report))
            return;
        check_tried(v, INVARIANT_H3_GONE);
        if (said != NOTHING)
            check_failed(v, INVARIANT_H3_GONE, "%s: its report says %s", object_name(node),
                         json_str_or_empty(report, "status.health.reason"));
        return;
    }
    check_tried(v, INVARIANT_H2_SEEN);
    if (said < larger(level, EVENT))
        check_failed(v, INVARIANT_H2_SEEN, "%s: its report says \"%s\", and it is %s at least",
                     object_name(node), json_str_or_empty(report, "status.health.level"),
                     levels[larger(level, EVENT)]);
}

void check_health(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; has_faults(v) && i < api_count(v->run->api, nodes); i++)
        look_at_health(v, api_at(v->run->api, nodes, i));
}

/* ---- nothing is done for a fault */

static size_t count_taints(const json_t *node)
{
    return json_array_size(json_at(node, "spec.taints"));
}

/* Whether a node has, or had in this boot, a GPU with a fault. */
static bool is_faulty(const struct invariants *v, const char *node)
{
    const json_t *report = api_get(v->run->api, kind_named("gpunodes"), NULL, node);
    struct actors_machine m;
    bool logged;
    return (actors_machine(v->run->actors, node, &m) && m.faulty > 0) ||
           level_of_report(json_at(report, "status.inventory"), &logged) > NOTHING || logged;
}

/* In a life with faults no driver changes: there is no other reason to close a node, to claim it or
 * to send pods away. */
void check_observe(struct invariants *v, const struct api_commit *c)
{
    const json_t *policy = check_policy(v);
    const char *mode = json_str(policy, "spec.health.mode");
    bool observes = has_faults(v) && policy && !object_is_deleting(policy) &&
                    (!mode || str_eq(mode, "Observe"));
    if (!observes || !c->before)
        return;
    if (check_is_kind(c->kind, "nodes") && c->after && is_faulty(v, object_name(c->after))) {
        check_tried(v, INVARIANT_H1_OBSERVE);
        if (count_taints(c->after) > count_taints(c->before) ||
            (object_annotation(c->after, ANNOTATION_CLAIM) &&
             !object_annotation(c->before, ANNOTATION_CLAIM)))
            check_failed(v, INVARIANT_H1_OBSERVE, "%s is closed or claimed", object_name(c->after));
    }
    const char *node = json_str(c->before, "spec.nodeName");
    bool of_user = check_is_kind(c->kind, "pods") && node &&
                   !str_eq(object_namespace(c->before), OPERAND_NAMESPACE);
    if (of_user && (!c->after || (object_is_deleting(c->after) && !object_is_deleting(c->before))))
        check_failed(v, INVARIANT_H1_OBSERVE, "%s is sent away from %s", object_name(c->before),
                     node);
}
