#include "reconcilers/decide/health_report.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/health_sentence.h"

static void take_verdict(const struct health_verdict *v, struct arena *a, struct health_status *ret)
{
    ret->level = v->level;
    snprintf(ret->reason, sizeof ret->reason, "%s", health_word(v, a));
    snprintf(ret->address, sizeof ret->address, "%s", str_or_empty(v->address));
}

static void take_message(const char *message, struct health_status *ret)
{
    snprintf(ret->message, sizeof ret->message, "%s", message);
}

/* Whether the message that is there says something else about what Ostler does. */
static bool ends_otherwise(const struct health_status *before, const struct health_ending *ending)
{
    return before->state != ending->state || !strstr(before->message, ending->does);
}

/* What Ostler does. `v` is NULL for a fact that is kept: it has a message already. */
static void take_handling(const struct health_input *in, const struct health_verdict *v,
                          const struct health_handling *handling, struct arena *a,
                          struct health_status *h)
{
    h->state = health_state_of(h, handling);
    const struct health_ending ending = { h->state, health_state_sentence(h, handling, a),
                                          health_state_needs_person(h->state, handling) };
    if (v)
        take_message(health_message(in, v, &ending, a), h);
    else if (ends_otherwise(in->concluded, &ending))
        take_message(health_message_kept(in->concluded, &ending, a), h);
    const struct fault_record *r = &handling->record;
    h->repairs_len = r->tries_len;
    memcpy(h->repairs, r->tries, sizeof h->repairs);
}

const struct health_status *health_report(const struct health_input *in,
                                          const struct health_handling *handling, struct arena *a)
{
    const struct health_status *before = in->concluded, *kept = health_kept(in);
    struct health_verdict v = health_judge(in);
    if (v.level == HEALTH_NONE && !kept)
        return NULL;
    struct health_status *h = arena_alloc(a, sizeof *h);
    bool stands = kept && kept->level >= v.level;
    if (stands)
        *h = *kept;
    else
        take_verdict(&v, a, h);
    bool told = health_status_same(before, h) && before->since_s &&
                !clock_is_ahead(before->since_s, in->now_s);
    h->since_s = told ? before->since_s : in->now_s;
    take_handling(in, stands ? NULL : &v, handling, a, h);
    return h;
}

/* The fault of the log has the time of its first line, which outlives Ostler. */
struct health_fault health_fault_of(const struct health_input *in,
                                    const struct health_fault *before, struct arena *a)
{
    const struct health_status *h = health_report(in, &(struct health_handling){ 0 }, a);
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

struct notice health_report_event(enum resource_id resource, const char *name, const char *uid,
                                  bool warning, const char *note)
{
    return (struct notice){ .resource = resource,
                            .name = (char *) name,
                            .uid = (char *) uid,
                            .warning = warning,
                            .share = EVENTS_OF_FAULTS,
                            .reason = reason_text(warning ? REASON_GPU_FAULT : REASON_GPU_HEALTHY),
                            .action = "Reconcile",
                            .note = (char *) note };
}

static void add_event(enum resource_id resource, const struct record *head, bool warning,
                      const char *note, struct actions *actions)
{
    struct notice n = health_report_event(resource, head->key, RECORD_UID(head), warning, note);
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
