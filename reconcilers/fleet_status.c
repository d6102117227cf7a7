#include "reconcilers/fleet_status.h"

#include "base/str.h"
#include "reconcilers/report_input.h"
#include "reconcilers/decide/gpu_node.h"

/* A state that the node had before this process started is as old as its report says. */
int64_t fleet_since_s(const struct cluster *c, const struct node_slot *slot)
{
    if (slot->summary.since_s)
        return slot->summary.since_s;
    const struct gpu_node *report = cluster_report(c, slot);
    return report && str_eq(report->state, node_state_name(slot->summary.state)) ? report->since_s
                                                                                 : 0;
}

/* A report has the time at which it first told of a state; here the state's own time is known. */
json_t *fleet_status(const struct cluster *c, const struct node_slot *slot, const char *now)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct health_input facts;
    int64_t again_ms, since_s = fleet_since_s(c, slot);
    struct gpu_node_input in = report_input(c, slot->name, slot, cluster_mode(c, &again_ms), now,
                                            &a, &facts);
    json_t *status = gpu_node_status(&in, &a);
    if (!json_object_get(status, "state")) /* without a policy nothing is reported */
        json_object_set_new(status, "state", json_string(node_state_name(slot->summary.state)));
    char since[CLOCK_TEXT_MAX];
    clock_rfc3339(since_s * 1000000, since);
    if (since_s && json_object_get(status, "since"))
        json_object_set_new(status, "since", json_string(since));
    return status;
}
