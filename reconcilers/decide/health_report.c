#include "reconcilers/decide/health_report.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/health_sentence.h"

static void take_verdict(const struct health_input *in, const struct health_verdict *v,
                         struct arena *a, struct health_status *ret)
{
    ret->level = v->level;
    snprintf(ret->reason, sizeof ret->reason, "%s", health_word(v, a));
    snprintf(ret->address, sizeof ret->address, "%s", str_or_empty(v->address));
    snprintf(ret->message, sizeof ret->message, "%s", health_sentence(in, v, a));
}

const struct health_status *health_report(const struct health_input *in, struct arena *a)
{
    const struct health_status *before = in->concluded, *kept = health_kept(in);
    struct health_verdict v = health_judge(in);
    if (v.level == HEALTH_NONE && !kept)
        return NULL;
    struct health_status *h = arena_alloc(a, sizeof *h);
    if (kept && kept->level >= v.level)
        *h = *kept;
    else
        take_verdict(in, &v, a, h);
    bool told = health_status_same(before, h) && before->since_s &&
                !clock_is_ahead(before->since_s, in->now_s);
    h->since_s = told ? before->since_s : in->now_s;
    return h;
}

/* The fault of the log has the time of its first line, which outlives Ostler. */
struct health_fault health_fault_of(const struct health_input *in,
                                    const struct health_fault *before, struct arena *a)
{
    const struct health_status *h = health_report(in, a);
    struct health_verdict v = health_judge(in);
    if (!h || h->level < HEALTH_CLOSE)
        return (struct health_fault){ 0 };
    bool logged = v.log && v.log->first_s && str_eq(health_word(&v, a), h->reason);
    bool known = before->level && str_eq(before->word, h->reason);
    int64_t since_s = logged ? v.log->first_s : known ? before->since_s : h->since_s;
    return (struct health_fault){
        .level = h->level, .hard = v.hard, .since_s = since_s, .word = h->reason
    };
}

bool health_report_only_recounts(const struct gpu_node *report, const json_t *status)
{
    const struct health_status *before = report ? report->concluded : NULL;
    if (!before || !json_object_get(status, GPU_NODE_HEALTH))
        return false;
    CLEANUP_JSON json_t *as_before = json_deep_copy(status);
    json_t *health = json_object_get(as_before, GPU_NODE_HEALTH);
    json_object_set_new(health, "message", json_text(before->message));
    return gpu_node_said(as_before) == report->said;
}

struct notice health_report_event(enum resource_id resource, const struct record *head,
                                  bool warning, const char *note)
{
    return (struct notice){ .resource = resource,
                            .name = head->key,
                            .uid = (char *) head->uid,
                            .warning = warning,
                            .reason = reason_text(warning ? REASON_GPU_FAULT : REASON_GPU_HEALTHY),
                            .action = "Reconcile",
                            .note = (char *) note };
}

static void add_event(enum resource_id resource, const struct record *head, bool warning,
                      const char *note, struct actions *actions)
{
    struct notice n = health_report_event(resource, head, warning, note);
    n.of_action = actions->len;
    actions_add_notice(actions, &n);
}

bool health_report_is_news(const struct health_status *before, const struct health_status *after)
{
    return after && !health_status_same(before, after) &&
           (!before || after->level >= before->level);
}

void health_report_notice(const struct node *node, const struct gpu_node *report,
                          const struct health_status *after, struct actions *actions)
{
    const struct health_status *before = report ? report->concluded : NULL;
    bool worse = health_report_is_news(before, after);
    if (!worse && (after || !before))
        return;
    CLEANUP_FREE char *note =
        worse ? xasprintf("%s (%s): %s", after->reason, health_level_name(after->level),
                          after->message)
              : xasprintf("no fault of the node's GPUs is known any longer; the last one was %s",
                          before->reason);
    add_event(RESOURCE_NODE, &node->head, worse, note, actions);
    if (report)
        add_event(RESOURCE_GPU_NODE, &report->head, worse, note, actions);
}
