#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/plan/gpu_node.h"
#include "reconcilers/reconcilers.h"

static const char *version_of(const struct cluster *c, const struct revision_tally *revision, const char *path)
{
    const struct child *record = revision ? cluster_record_of(c, revision->tier, revision->hash) : NULL;
    return record ? json_str(record->inputs, path) : NULL;
}

void report_reconcile(void *arg, const char *name, struct plan *plan)
{
    struct reconcilers *r = arg;
    const struct cluster *c = r->cluster;
    struct node_slot *slot = map_get(&c->slots, name);
    const struct node_summary *s = slot && slot->node ? &slot->summary : NULL;
    int64_t again_ms;
    /* What was not looked at yet, or must not be, is reported on when it was. */
    if (cluster_stance(c, &again_ms) == STANCE_HOLD || (s && !s->counted))
        return;
    int64_t now_ms = clock_mono_ms(c->o.clock);
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(clock_wall_us(c->o.clock), now);
    struct gpu_node_input in = {
        .name = name,
        .node = s ? slot->node : NULL,
        .summary = s,
        .pods = slot ? slot->pods : NULL,
        .report = (const struct gpu_node *) table_get(&c->tables[RESOURCE_GPU_NODE], name),
        .told_ms = slot && slot->told_ms ? now_ms - slot->told_ms : GPU_NODE_SENTENCE_MS,
        .reports_exist = informer_present(c->informers[RESOURCE_GPU_NODE]),
        .driver_version = s ? version_of(c, s->driver, "version") : NULL,
        .stack_version = s ? version_of(c, s->stack, "toolkit.version") : NULL,
        .generation = object_generation(c->object),
        .now = now,
    };
    CLEANUP_ARENA struct arena a = { 0 };
    if (gpu_node_plan(&in, &a, plan))
        slot->told_ms = now_ms;
}
