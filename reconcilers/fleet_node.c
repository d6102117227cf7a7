/* One node on the fleet page: its GpuNode as it would be written now, and its story. */
#include "base/json.h"
#include "reconcilers/fleet_fields.h"
#include "reconcilers/fleet_row.h"
#include "reconcilers/fleet_view.h"
#include "reconcilers/report_input.h"
#include "reconcilers/decide/gpu_node.h"

bool fleet_node(const struct fleet_source *s, const char *name, struct buf *out)
{
    const struct cluster *c = s->cluster;
    const struct node_slot *slot = map_get(&c->slots, name);
    if (!slot || !fleet_shows(slot))
        return false;
    CLEANUP_ARENA struct arena a = { 0 };
    struct health_input facts;
    int64_t again_ms;
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(cluster_wall_us(c), now);
    struct gpu_node_input in = report_input(c, name, slot, cluster_mode(c, &again_ms), now, &a,
                                            &facts);
    CLEANUP_JSON json_t *whole = json_pack("{s:s, s:s, s:o, s:{}, s:s, s:[o]}", "asOf", now, "name",
                                           name, "status", gpu_node_status(&in, &a), "explain",
                                           "text", "", "commands",
                                           json_textf("kubectl gpu explain %s", name));
    CLEANUP_JSON json_t *picked = fleet_fields_pick(whole, fleet_node_fields);
    CLEANUP_FREE char *text = json_compact(picked);
    buf_str(out, text);
    return true;
}
