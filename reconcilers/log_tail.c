#include "reconcilers/log_tail.h"

#include <string.h>

#include "base/str.h"
#include "kube/log_tail.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/pod.h"

/* The pod of the verdict; NULL: it names none. */
static const struct pod *failed_pod(const struct node_slot *slot, const struct node_verdict *v)
{
    for (const struct pod *p = slot->pods; p && v->pod; p = p->next_on_node)
        if (str_eq(p->head.key, v->pod))
            return p;
    return NULL;
}

/* Takes over what an earlier Ostler read. */
static void log_tail_remember(const struct cluster *c, struct node_slot *slot)
{
    const struct gpu_node *report = (const struct gpu_node *) table_get(
        &c->tables[RESOURCE_GPU_NODE], slot->name);
    if (!slot->summary.counted && !slot->words && report && report->words)
        slot->words = log_tail_new(report->words->pod, report->words->container,
                                   report->words->text);
}

static struct request request_for(const struct pod *pod, const char *container, bool again)
{
    const char *name;
    CLEANUP_FREE char *ns = record_namespace(pod->head.key, &name);
    return request_log(ns, name, container, again);
}

static void log_tail_ask(struct reconcilers *r, struct node_slot *slot, const struct pod *pod,
                         const char *container, bool again)
{
    log_tail_free(slot->words);
    slot->words = log_tail_new(pod->head.key, container, NULL);
    CLEANUP_FREE char *key = xasprintf("%s %s %s", slot->name, pod->head.key, container);
    r->read_text(r->arg, key, request_for(pod, container, again));
}

/* Whether an upgrade starts, in which nothing has failed yet. */
static bool begins(const struct node_verdict *v)
{
    return v->moving && !v->restoring && v->state != NODE_INSTALLING && v->state != NODE_VALIDATING;
}

/* Whether a container's log may have the reason. During a rollback the earlier failure counts. */
static bool says_why(const struct node_verdict *v)
{
    return v->moving ? v->trouble && !v->restoring : v->state == NODE_FAILED || v->failed_with;
}

void log_tail_request(struct reconcilers *r, struct node_slot *slot, const struct node_verdict *v)
{
    log_tail_remember(r->cluster, slot);
    if (begins(v))
        log_tail_free(TAKE(slot->words));
    if (!says_why(v) || !r->read_text)
        return;
    const struct pod *pod = failed_pod(slot, v);
    bool again;
    const char *container = pod ? pod_ended(r->cluster->strings, pod, &again) : NULL;
    bool asked = slot->words && str_eq(slot->words->container, container) && pod &&
                 str_eq(slot->words->pod, pod->head.key);
    if (container && !asked)
        log_tail_ask(r, slot, pod, container, again);
}

static void log_tail_report(struct reconcilers *r, const struct node_slot *slot)
{
    const struct log_tail *w = slot->words;
    CLEANUP_FREE char *note = xasprintf("container %s of pod %s failed; its log ends: %s",
                                        w->container, w->pod, w->text);
    r->notice(r, &(struct notice){ .resource = RESOURCE_NODE,
                                   .name = slot->name,
                                   .uid = (char *) RECORD_UID(&slot->node->head),
                                   .warning = true,
                                   .reason = reason_text(REASON_CONTAINER_FAILED),
                                   .action = "Reconcile",
                                   .note = note });
}

void log_tail_take(struct reconcilers *r, const char *key, const char *bytes, size_t len)
{
    CLEANUP_FREE char *node = xstrndup(key, strcspn(key, " "));
    struct node_slot *slot = map_get(&r->cluster->slots, node);
    struct log_tail *w = slot && slot->node ? slot->words : NULL;
    CLEANUP_FREE char *asked = w ? xasprintf("%s %s %s", node, w->pod, w->container) : NULL;
    if (!bytes || !w || !str_eq(asked, key) || w->text)
        return;
    CLEANUP_FREE char *text = log_tail_cut(bytes, len, LAST_WORDS_MAX);
    if (!*text)
        return;
    w->text = TAKE(text);
    log_tail_report(r, slot);
    cluster_enqueue_report(r->cluster, node);
    r->policy(r->arg, false);
}
