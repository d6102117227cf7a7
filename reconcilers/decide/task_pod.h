/* One-off pods of ours: how one is made, and how it is taken away again. A pod is made with POST under a name that is the same
 * each time: where one is there already the answer is 409, and the next pass looks at it. It is deleted as it was when it was
 * looked at.
 *
 * Such a pod is no operand: it counts in no component's state, and nobody drains it. It is pinned to its node, tolerates
 * everything, has no API token and no priority class (only a class could say that it never preempts, and it needs no place that
 * others have), and is not restarted. */
#ifndef OSTLER_RECONCILERS_DECIDE_TASK_POD_H
#define OSTLER_RECONCILERS_DECIDE_TASK_POD_H

#include "kube/actions.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/revision.h"

/* "<driver hash>.<stack hash>", with "none" for a tier that is not there: the label ostler.dev/revision of a one-off pod. */
enum { TASK_PURPOSE_MAX = TIERS * (REVISION_HASH_MAX + 1) };

/* Writes the purpose of these revisions. */
void task_purpose(struct assignment_ref runs, char out[static TASK_PURPOSE_MAX]);
/* Plans the request that makes the pod. An error: the manifest or the context lacks something; nothing is planned then. */
int task_pod_create(const struct manifests *m, const struct render_task *want, enum reason reason,
                    const char *message, struct actions *actions, struct err *e);
/* Plans its deletion, unless it is being deleted already. */
void task_pod_delete(const struct pod *p, enum reason reason, const char *message,
                     struct actions *actions);
/* Plans the deletion of all one-off pods of a list through next_on_node. */
void task_pods_clear(const struct pod *pods, enum reason reason, const char *message,
                     struct actions *actions);
/* The pod of this kind on a node, of a list through next_on_node; one that is being deleted counts only where there is no other.
 * NULL: there is none. */
const struct pod *task_pod_find(const struct pod *pods, enum task_kind kind);
/* Whether it was made by this policy and for this purpose. */
bool task_pod_is_for(const struct intern *strings, const struct pod *p, const char *policy_uid, const char *purpose);

#endif
