#include "reconcilers/cluster_health.h"

#include "base/json.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/health_bad.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/suspicion.h"

/* When the pod of Ostler's driver was created; 0: there is none that is up, or there are two, or
 * the host has its own driver. */
static uint32_t driver_made_s(const struct node_slot *slot)
{
    uint32_t made_s = 0;
    size_t pods = 0;
    for (const struct pod *p = slot->pods; p; p = p->next_on_node) {
        bool driver = p->component == OPERAND_DRIVER;
        pods += driver;
        made_s = driver && p->ready && !p->deleting && !p->host_driver ? p->made_s : made_s;
    }
    return pods == 1 ? made_s : 0;
}

/* The newest driver that the node had in this boot. That its pod is not ready for a moment, or
 * leaves, brings no fault back. */
static struct health_driver newest_driver(const struct node_slot *slot)
{
    uint32_t made_s = driver_made_s(slot);
    bool known = slot->driver.boot == slot->node->boot && slot->driver.made_s > made_s;
    return known ? slot->driver : (struct health_driver){ slot->node->boot, made_s };
}

static void take_claim(const struct cluster *c, const struct node_slot *slot, int64_t now_s,
                       struct health_quiet *ret)
{
    struct claim claim;
    const char *text = intern_text(c->strings, slot->node->claim);
    health_quiet_take(ret, text && claim_parse(text, &claim, NULL) ? &claim : NULL, now_s);
}

static const json_t *xids_of(const struct cluster *c)
{
    return c->policy_valid ? json_at(c->policy.spec, "health.xids") : NULL;
}

static bool is_driver_suspected(const struct cluster *c, const struct node_slot *slot)
{
    const struct node_view view = cluster_view(c, slot->node);
    const char *hash = node_label(&view, LABEL_DRIVER);
    const struct child *record = hash && c->policy_valid
                                     ? cluster_record_of(c, tiers[TIER_DRIVER].name, hash)
                                     : NULL;
    if (!record)
        return false;
    size_t pool = policy_pool_of(&c->policy, node_label, &view);
    return suspicion_is_told(record_failure(record, c->policy.pools[pool].name));
}

bool cluster_health_of(const struct cluster *c, const struct node_slot *slot,
                       const struct gpu_node *report, struct health_input *ret)
{
    static const struct gpu_node nothing;
    const struct gpu_node *said = report ? report : &nothing;
    const struct node_view view = cluster_view(c, slot->node);
    int64_t failed_s = slot->node ? black_hole_proof_failed_s(&view, slot->hole) : 0;
    bool any = said->health || said->concluded || failed_s ||
               (said->inventory && said->inventory->lost) || (slot->node && slot->node->fault);
    if (!any || !slot->node)
        return false;
    *ret = (struct health_input){
        .facts = said->health,
        .inventory = said->inventory,
        .boot = slot->node->boot,
        .concluded = said->concluded,
        .proof_failed_s = failed_s,
        .driver_suspected = is_driver_suspected(c, slot),
        .driver_s = newest_driver(slot).made_s,
        .quiet = slot->quiet,
        .nvml_spoke = slot->nvml_boot && slot->nvml_boot == slot->node->boot,
        .nvml_told = slot->told_boot && slot->told_boot == slot->node->boot,
        .now_s = cluster_now_s(c),
        .xids = xids_of(c)
    };
    take_claim(c, slot, ret->now_s, &ret->quiet);
    return true;
}

bool cluster_health(const struct cluster *c, const struct node_slot *slot, struct health_input *ret)
{
    return cluster_health_of(c, slot, cluster_report(c, slot), ret);
}

/* Most nodes have no fault, which the report says at once. */
unsigned cluster_bad_gpus(const struct cluster *c, const struct node_slot *slot)
{
    const struct gpu_node *report = cluster_report(c, slot);
    struct health_input facts;
    return report && report->health && cluster_health_of(c, slot, report, &facts)
               ? health_bad_gpus(&facts).gpus
               : 0;
}

void cluster_health_look(const struct cluster *c, struct node_slot *slot)
{
    const struct node_inventory *said = cluster_inventory(c, slot);
    slot->driver = newest_driver(slot);
    if (said && said->health_listed)
        slot->nvml_boot = said->boot;
    struct health_input in;
    if (cluster_health(c, slot, &in) && health_is_heard(&in))
        slot->told_boot = slot->node->boot;
    if (slot->node->claim)
        take_claim(c, slot, cluster_now_s(c), &slot->quiet);
}
