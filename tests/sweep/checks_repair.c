/* Checks of repairs of GPUs: how often a node is reset or rebooted, what its condition says, and
 * that nothing is written while a fault is there and nothing changes. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

/* ---- H7 */

static const struct {
    const char *field;
    int64_t usual; /* docs/policy.md */
} attempts[] = {
    { "spec.health.attempts.reset", 1 },
    { "spec.health.attempts.reboot", 2 },
};

/* By the programs that have begun on the machines. A life is shorter than the time in which
 * attempts are counted. */
void check_attempts(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    const json_t *policy = check_policy(v);
    for (size_t i = 0; policy && i < api_count(v->run->api, nodes); i++) {
        const char *name = object_name(api_at(v->run->api, nodes, i));
        struct actors_machine m;
        if (!actors_machine(v->run->actors, name, &m) || !(m.resets + m.reboots_asked) ||
            check_noted(&v->faults.asked, name) >= 0)
            continue;
        const uint64_t tries[] = { m.resets, m.reboots_asked };
        check_tried(v, INVARIANT_H7_ATTEMPTS);
        for (size_t k = 0; k < ARRAY_LEN(attempts); k++)
            if (tries[k] > (uint64_t) json_int(policy, attempts[k].field, attempts[k].usual))
                check_failed(v, INVARIANT_H7_ATTEMPTS, "%s: %llu tries, and %s says less", name,
                             (unsigned long long) tries[k], attempts[k].field);
    }
}

/* ---- H10 */

void check_rest(struct invariants *v, size_t writes)
{
    const struct kind *nodes = kind_named("nodes");
    bool faulty = false;
    for (size_t i = 0; check_has_faults(v) && i < api_count(v->run->api, nodes); i++)
        faulty |= check_is_faulty(v, object_name(api_at(v->run->api, nodes, i)));
    if (!faulty)
        return;
    check_tried(v, INVARIANT_H10_REST);
    if (writes)
        check_failed(v, INVARIANT_H10_REST, "%zu writes", writes);
}

/* ---- H11 */

/* What the condition must be; NULL: the reports do not say. */
static const char *wanted_condition(const struct invariants *v, const json_t *node)
{
    const json_t *policy = check_policy(v), *report = check_report_of(v, node);
    const json_t *inventory = json_at(report, "status.inventory");
    if (str_eq(check_health_mode(policy), "Observe"))
        return "";
    if (!report || object_annotation(node, ANNOTATION_CLAIM) ||
        check_silence_may_be_of_a_change(v, node, inventory) ||
        json_object_size(json_at(policy, "spec.health.xids")))
        return NULL;
    if (str_eq(object_label(node, LABEL_HEALTH), HEALTH_IGNORE))
        return "Unknown";
    const char *record = object_annotation(node, ANNOTATION_FAULT);
    if (check_level_at_least(inventory) >= LEVEL_CLOSE ||
        (record && strstr(record, "\"state\":\"Closed\"")))
        return "False";
    return check_nvml_speaks(inventory) && check_level_at_most(inventory) < LEVEL_CLOSE ? "True"
                                                                                        : NULL;
}

void check_condition_of_health(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    bool judged = check_has_faults(v) && !v->run->plan->deny_verb && check_policy(v) &&
                  !object_is_deleting(check_policy(v));
    for (size_t i = 0; judged && i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        const char *wanted = object_is_deleting(node) ? NULL : wanted_condition(v, node);
        if (!wanted)
            continue;
        check_tried(v, INVARIANT_H11_CONDITION);
        if (!str_eq(check_condition(node, NODE_CONDITION_HEALTH), wanted))
            check_failed(v, INVARIANT_H11_CONDITION, "%s: it is \"%s\", and should be \"%s\"",
                         object_name(node), check_condition(node, NODE_CONDITION_HEALTH), wanted);
    }
}
