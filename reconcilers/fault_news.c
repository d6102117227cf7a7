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
    const struct record *node = &slot->node->head, *its_report = &report->head;
    const struct notice of_node = health_report_event(RESOURCE_NODE, node->key, RECORD_UID(node),
                                                      true, note),
                        of_report = health_report_event(RESOURCE_GPU_NODE, its_report->key,
                                                        RECORD_UID(its_report), true, note);
    r->notice(r, &of_node);
    r->notice(r, &of_report);
}

/* How often a fault came since the report before. Where the log was not read before, what is older
 * than that report is no news. */
static uint32_t times_new(const struct gpu_node *before, const struct gpu_fault *f)
{
    const struct gpu_fault *was = same_fault(before->health, f);
    const struct node_inventory *i = before->inventory;
    bool old = !was && i && !i->faults_listed && f->first_s <= i->said_s;
    uint32_t known = was ? was->count : old ? f->count : 0;
    return f->count > known ? f->count - known : 0;
}

/* The fault of the log of which the next write of the status tells; NULL: of none. */
static const struct gpu_fault *next_told(const struct health_input *in)
{
    static const struct health_handling handling = { 0 };
    CLEANUP_ARENA struct arena a = { 0 };
    bool news = health_report_is_news(in->concluded, health_report(in, &handling, &a));
    return news ? health_judge(in).log : NULL;
}

static bool is_shown(const struct health_input *in, const struct health_verdict *v)
{
    CLEANUP_ARENA struct arena a = { 0 };
    return in->concluded && str_eq(in->concluded->reason, health_word(v, &a)) &&
           str_eq(in->concluded->address, v->address);
}

/* Faults whose Event is to go out with a write of the status; NULL: none. */
struct written {
    const struct gpu_fault *before; /* by the report before */
    const struct gpu_fault *next;   /* by the present one */
};

/* Whether an Event must tell of a fault now: it is new, or another one is written in its place. */
static bool is_to_be_told(const struct health_input *in, const struct gpu_node *before,
                          const struct written *w, const struct health_verdict *v)
{
    const struct gpu_fault *known = same_fault(before->health, v->log);
    bool fresh = !known && times_new(before, v->log);
    return (fresh || (w->before && known == w->before)) && v->log != w->next && !is_shown(in, v);
}

void fault_news(struct reconcilers *r, const struct node_slot *slot, const struct gpu_node *before,
                const struct gpu_node *after, bool tells)
{
    struct health_input in, was = { 0 };
    if (!cluster_health_of(r->cluster, slot, after, &in) || !in.facts || !in.facts->faults_len)
        return;
    cluster_health_of(r->cluster, slot, before, &was);
    const struct written w = { was.facts ? next_told(&was) : NULL, next_told(&in) };
    bool ours = slot->summary.counted && slot->summary.state != NODE_UNMANAGED;
    for (size_t i = 0; i < in.facts->faults_len; i++) {
        const struct gpu_fault *f = &in.facts->faults[i];
        uint32_t times = times_new(before, f);
        struct health_verdict v = health_of_fault(&in, f);
        if (r->metrics && times)
            fleet_metrics_fault(r->metrics, f, health_counted_as(&in, f), times);
        if (tells && ours && r->notice && v.level && is_to_be_told(&in, before, &w, &v))
            tell(r, slot, after, &in, &v);
    }
}
