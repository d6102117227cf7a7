#include "reconcilers/decide/task_pod.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/action.h"

void task_purpose(struct assignment_ref runs, char out[static TASK_PURPOSE_MAX])
{
    CLEANUP_FREE char *text = assignment_text(runs, '.', "none");
    snprintf(out, TASK_PURPOSE_MAX, "%s", text);
}

int task_pod_create(const struct manifests *m, const struct render_task *want, enum reason reason,
                    const char *message, struct actions *actions, struct err *e)
{
    CLEANUP_JSON json_t *object = render_task(m, want, e);
    if (!object)
        return -1;
    CLEANUP_FREE char *target = xasprintf("pod/%s/%s", want->operand_namespace,
                                          object_name(object));
    action_add(actions, request_create(RESOURCE_TASK, want->operand_namespace, object), VERB_CREATE,
               target, reason, "%s", message);
    return 0;
}

void task_pod_delete(const struct pod *p, enum reason reason, const char *message,
                     struct actions *actions)
{
    if (p->deleting)
        return;
    const char *name;
    CLEANUP_FREE char *ns = record_namespace(p->head.key, &name);
    CLEANUP_FREE char *target = xasprintf("pod/%s", p->head.key);
    action_add(actions, request_delete(RESOURCE_TASK, ns, name, RECORD_UID(&p->head), p->head.rv),
               VERB_DELETE, target, reason, "%s", message);
}

void task_pods_clear(const struct pod *pods, enum reason reason, const char *message,
                     struct actions *actions)
{
    for (const struct pod *p = pods; p; p = p->next_on_node)
        if (p->is_task)
            task_pod_delete(p, reason, message, actions);
}

const struct pod *task_pod_find(const struct pod *pods, enum task_kind kind)
{
    const struct pod *found = NULL;
    for (const struct pod *p = pods; p; p = p->next_on_node)
        if (p->is_task && pod_task(p)->kind == kind && (!found || found->deleting))
            found = p;
    return found;
}

bool task_pod_is_for(const struct intern *strings, const struct pod *p, const char *policy_uid,
                     const char *purpose)
{
    const struct task *t = pod_task(p);
    return t && str_eq(intern_text(strings, t->policy), policy_uid) &&
           str_eq(intern_text(strings, t->purpose), purpose);
}
