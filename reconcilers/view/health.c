#include "reconcilers/view/health.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "reconcilers/view/advice.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/health_status.h"

/* Reported, or no state: the report is of an older Ostler. */
#define ONLY_REPORTED NULL

/* What becomes of a node with a fault. The first row with its state and a level of at most its own
 * counts; rows with equal `does` are summed up. */
static const struct health_row {
    const char *state;
    enum health_level level;
    const char *does, *one, *many;
    bool bad; /* pods miss a GPU, or will */
} rows[] = {
    { "Human", HEALTH_NONE, "Human", "needs a person", "need a person", true },
    { "Closed", HEALTH_HUMAN, "Human", "needs a person", "need a person", true },
    { "Withheld", HEALTH_HUMAN, "Human", "needs a person", "need a person", true },
    { "Closed", HEALTH_NONE, "Closed", "closed", "closed", true },
    { "Repairing", HEALTH_NONE, "Repairing", "under repair", "under repair", true },
    { "Proving", HEALTH_NONE, "Proving", "to be validated", "to be validated", true },
    { "Confirming", HEALTH_NONE, "Confirming", "looked at once more", "looked at once more", true },
    { "Withheld", HEALTH_NONE, "Withheld", "open without the GPU", "open without the GPUs", true },
    { "Braked", HEALTH_NONE, "Braked", "not closed by the brake", "not closed by the brake", true },
    { "Ignored", HEALTH_NONE, "Ignored", "ignored", "ignored", false },
    { ONLY_REPORTED, HEALTH_HUMAN, "Human", "needs a person", "need a person", true },
    { ONLY_REPORTED, HEALTH_REBOOT, "Reboot", "to reboot", "to reboot", true },
    { ONLY_REPORTED, HEALTH_CLOSE, "Reset", "to reset", "to reset", true },
    { ONLY_REPORTED, HEALTH_RESET_WHEN_IDLE, "ResetWhenIdle", "to reset when idle",
      "to reset when idle", false },
    { ONLY_REPORTED, HEALTH_EVENT, "Event", "to look at", "to look at", false },
};

/* The order of the output. */
static const char *const order[] = { "Closed",     "Human",         "Repairing", "Proving",
                                     "Confirming", "Withheld",      "Braked",    "Reboot",
                                     "Reset",      "ResetWhenIdle", "Event",     "Ignored" };

/* Whether it is a state in which Ostler does more than to report the fault. */
static bool is_known(const char *state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].state, state))
            return true;
    return false;
}

const char *health_handled(const json_t *health)
{
    const char *state = json_str(health, "state");
    return state && is_known(state) ? state : NULL;
}

bool health_is_reason(const char *text)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t n = strlen(str_or_empty(text));
    return n > 0 && n < HEALTH_WORD_MAX && strspn(text, chars) == n;
}

/* NULL: the node has no fault. */
static const struct health_row *row_of(const json_t *report)
{
    const json_t *health = json_at(report, "status.health");
    const char *state = health_handled(health);
    enum health_level level;
    if (!health_level_parse(json_str(health, "level"), &level) || level == HEALTH_NONE)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((state ? str_eq(rows[i].state, state) : !rows[i].state) && level >= rows[i].level)
            return &rows[i];
    return NULL;
}

json_t *health_levels(const json_t *reports)
{
    json_t *counts = json_object();
    for (int level = HEALTH_LEVELS - 1; level > HEALTH_NONE; level--) {
        const char *name = health_level_name((enum health_level) level);
        json_int_t nodes = 0;
        JSON_EACH (report, reports)
            nodes += str_eq(json_str(report, "status.health.level"), name);
        if (nodes)
            json_object_set_new(counts, name, json_integer(nodes));
    }
    if (json_object_size(counts))
        return counts;
    json_decref(counts);
    return NULL;
}

json_t *health_sums(const json_t *reports)
{
    json_t *sums = json_array();
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        const struct health_row *found = NULL;
        json_int_t nodes = 0;
        JSON_EACH (report, reports) {
            const struct health_row *row = row_of(report);
            bool is_it = row && str_eq(row->does, order[i]);
            found = is_it ? row : found;
            nodes += is_it;
        }
        if (nodes)
            json_array_append_new(sums, json_pack("{s:s, s:s, s:I, s:b}", "does", found->does,
                                                  "text", nodes == 1 ? found->one : found->many,
                                                  "nodes", nodes, "bad", found->bad));
    }
    if (json_array_size(sums))
        return sums;
    json_decref(sums);
    return NULL;
}

json_t *health_brake(const json_t *policy, int64_t now_us)
{
    const json_t *braked = condition_of(policy, "HealthBraked");
    if (!str_eq(json_str(braked, "status"), "True"))
        return NULL;
    const char *reason = json_str_or_empty(braked, "reason");
    CLEANUP_FREE char *todo = advice_of_rollout(reason_parse(reason), NULL);
    return json_pack(
        "{s:s, s:s, s:I, s:s*}", "reason", reason, "message", json_str_or_empty(braked, "message"),
        "seconds", (json_int_t) term_seconds_since(json_str(braked, "lastTransitionTime"), now_us),
        "todo", todo);
}

bool health_needs_person(const json_t *status, const json_t *policy)
{
    static const char *const goes_on[] = { "Proving", "Repairing", "Confirming", NULL };
    const char *state = json_str(status, "health.state");
    if (str_is_any_of(str_or_empty(state), goes_on))
        return false;
    return str_eq(state, "Human") || str_eq(json_str(status, "health.level"), "Human") ||
           !str_eq(json_str(policy, "spec.health.mode"), "Repair");
}

const char *health_repair_ignored(const json_t *report)
{
    const json_t *entry = json_find(json_at(report, "status.waitingFor"), "reason",
                                    reason_text(REASON_REPAIR_IGNORED));
    return json_str(entry, "message");
}
