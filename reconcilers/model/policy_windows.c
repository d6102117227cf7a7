/* Finds maintenance windows of a policy that never open. */
#include "base/json.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/policy_problems.h"
#include "reconcilers/model/schedule.h"
#include "reconcilers/model/zone.h"

/* Adds a problem if the window never opens, which no format can detect. */

static void check_window(const json_t *window, const struct policy_place *at,
                         struct policy_problems *problems)
{
    const struct policy_place schedule_place = { .up = at,
                                                 .kind = PLACE_FIELD,
                                                 .name = "schedule" };
    const struct policy_place zone_place = { .up = at, .kind = PLACE_FIELD, .name = "timeZone" };
    const char *text = json_str(window, "schedule"), *zone = json_str(window, "timeZone");
    struct schedule schedule;
    if (text && schedule_parse(text, &schedule) && !schedule_fires(&schedule))
        policy_problem_add(problems, &schedule_place,
                           "must name a day that comes, not \"%s\"; the window never opens", text);
    if (zone && !zone_find(zone))
        policy_problem_add(problems, &zone_place,
                           "must be a time zone that Ostler knows, such as \"Asia/Tokyo\", not "
                           "\"%s\"; the window never opens",
                           zone);
}

void policy_check_windows(const struct policy *policy, struct policy_problems *problems)
{
    const struct policy_place spec = { .kind = PLACE_FIELD, .name = "spec" };
    const struct policy_place rollout = { .up = &spec, .kind = PLACE_FIELD, .name = "rollout" };
    const struct policy_place windows = { .up = &rollout, .kind = PLACE_FIELD, .name = "windows" };
    size_t i;
    json_t *window;
    json_array_foreach (json_at(policy->spec, "rollout.windows"), i, window) {
        const struct policy_place at = { .up = &windows, .kind = PLACE_ITEM, .index = i };
        check_window(window, &at, problems);
    }
}
