/* What a user can do about a fault of a node's GPUs, and how to undo what a user did. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/view/explain.h"
#include "reconcilers/view/health.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/names.h"

static void describe(json_t *next, json_t *text_steal)
{
    json_array_append_new(next, json_pack("{s:o}", "text", text_steal));
}

/* Whether a user may have the fault ignored: Ostler has a record of what it does about it, and does
 * not repair the node yet. */
static bool may_be_ignored(const struct fault_record *r, const json_t *health)
{
    static const bool yes[FAULT_STATES_LEN] = {
        [FAULT_CLOSED] = true, [FAULT_PROVING] = true, [FAULT_BRAKED] = true
    };
    return yes[r->state] && health_is_reason(r->reason) &&
           !str_eq(json_str(health, "state"), "Repairing");
}

/* Whether `kubectl gpu repair` would be taken, as far as the fault goes. */
static bool may_be_repaired(const json_t *health, const json_t *policy)
{
    static const char *const not_now[] = { "Repairing", "Proving", "Ignored", NULL };
    const char *level = json_str(health, "level");
    return level && !str_eq(level, "Event") && !str_is_any_of(json_str(health, "state"), not_now) &&
           !str_eq(json_str(policy, "spec.health.mode"), "Observe");
}

/* What users have said already. */
static void describe_said(json_t *next, const json_t *node, const struct fault_record *r,
                          const json_t *report)
{
    const char *name = object_name(node), *asked = object_annotation(node, ANNOTATION_REPAIR),
               *ignored = asked ? health_repair_ignored(report) : NULL;
    if (ignored)
        describe(next, json_textf("%s (since %s); to take the request back: kubectl gpu repair %s "
                                  "--cancel",
                                  ignored, asked, name));
    else if (asked)
        describe(next, json_textf("a user asked for a repair (%s): kubectl gpu repair %s --cancel",
                                  asked, name));
    if (str_eq(object_label(node, LABEL_HEALTH), HEALTH_IGNORE))
        describe(next, json_textf("a user decided to ignore all faults of its GPUs: kubectl gpu "
                                  "ignore %s --fault all --undo",
                                  name));
    if (r->state == FAULT_IGNORED && health_is_reason(r->reason))
        describe(next, json_textf("a user decided to ignore %s: kubectl gpu ignore %s --fault %s "
                                  "--undo",
                                  r->reason, name, r->reason));
}

void explain_health(const json_t *snapshot, json_t *next)
{
    const json_t *node = json_object_get(snapshot, "nodes"),
                 *policy = json_object_get(snapshot, "policy"),
                 *report = json_object_get(snapshot, "reports"),
                 *health = json_at(report, "status.health");
    const char *name = object_name(node);
    struct fault_record r;
    fault_record_parse(object_annotation(node, ANNOTATION_FAULT), &r);
    bool ignored = str_eq(object_label(node, LABEL_HEALTH), HEALTH_IGNORE);
    if (!node)
        return;
    describe_said(next, node, &r, report);
    if (!ignored && !object_annotation(node, ANNOTATION_REPAIR) && may_be_repaired(health, policy))
        describe(next, json_textf("to have its GPUs repaired now, if the administrator allows "
                                  "repairs: kubectl gpu repair %s",
                                  name));
    if (!ignored && may_be_ignored(&r, health))
        describe(next,
                 json_textf("to use the node in spite of %s: kubectl gpu ignore %s --fault %s",
                            r.reason, name, r.reason));
}
