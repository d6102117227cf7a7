#include "reconcilers/fault_news.h"

#include "base/str.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/decide/health_report.h"
#include "reconcilers/decide/health_sentence.h"

static const struct gpu_fault *same_fault(const struct node_health *in, const struct gpu_fault *f)
{
    for (size_t i = 0; in && i < in->faults_len; i++) {
        const struct gpu_fault *other = &in->faults[i];
        if (other->xid == f->xid && other->nvswitch == f->nvswitch && other->boot == f->boot &&
            str_eq(other->address, f->address))
            return other;
    }
    return NULL;
}

static void tell(struct reconcilers *r, const struct node_slot *slot, const struct gpu_node *report,
                 const struct health_input *in, const struct health_verdict *v)
{
    CLEANUP_ARENA struct arena a = { 0 };
    const char *note = arena_printf(&a, "%s (%s): %s", health_word(v, &a),
                                    health_level_name(v->level), health_sentence(in, v, &a));
    const struct notice of_node = health_report_event(RESOURCE_NODE, &slot->node->head, true, note),
                        of_report = health_report_event(RESOURCE_GPU_NODE, &report->head, true,
                                                        note);
    r->notice(r, &of_node);
    r->notice(r, &of_report);
}

void fault_news(struct reconcilers *r, const struct node_slot *slot, const struct gpu_node *before,
                const struct gpu_node *after, bool tells)
{
    struct health_input in;
    if (!cluster_health_of(r->cluster, slot, after, &in) || !in.facts)
        return;
    const struct gpu_fault *worst = health_judge(&in).log;
    for (size_t i = 0; i < in.facts->faults_len; i++) {
        const struct gpu_fault *f = &in.facts->faults[i], *was = same_fault(before->health, f);
        struct health_verdict v = health_of_fault(&in, f);
        if (r->metrics && f->count > (was ? was->count : 0))
            fleet_metrics_fault(r->metrics, f, v.level, f->count - (was ? was->count : 0));
        if (tells && r->notice && !was && v.level && f != worst)
            tell(r, slot, after, &in, &v);
    }
}
