/* Creation and deletion of Ostler's one-off pods. A pod is created with POST under a fixed name. If
 * it exists already, the API server answers 409, and the next pass sees it. A deletion applies only
 * to the pod that Ostler read.
 *
 * Such a pod is not an operand: it does not count in the operands' state and is not drained. It is
 * pinned to its node, tolerates every taint, is not restarted, and has no API token. It has no
 * priority class, because it uses nothing that other pods need; only a class could forbid
 * preemption. */
#ifndef OSTLER_RECONCILERS_DECIDE_TASK_POD_H
#define OSTLER_RECONCILERS_DECIDE_TASK_POD_H

#include "kube/actions.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/revision.h"

/* "<driver hash>.<stack hash>", with "none" for a missing tier: the label ostler.dev/revision of a
 * one-off pod. */
enum { TASK_PURPOSE_MAX = TIERS * (REVISION_HASH_MAX + 1) };

/* Writes the purpose for these revisions. */
void task_purpose(struct assignment_ref runs, char out[static TASK_PURPOSE_MAX]);
/* Plans the request that creates the pod. Error: the manifest or the context lacks something; then
 * it plans nothing. */
int task_pod_create(const struct manifests *m, const struct render_task *want, enum reason reason,
                    const char *message, struct actions *actions, struct err *e);
/* Plans its deletion, unless it is already being deleted. */
void task_pod_delete(const struct pod *p, enum reason reason, const char *message,
                     struct actions *actions);
/* Plans the deletion of all one-off pods of a list through next_on_node. */
void task_pods_clear(const struct pod *pods, enum reason reason, const char *message,
                     struct actions *actions);
/* The pod of this kind in a list through next_on_node. A terminating pod counts only if there is no
 * other. NULL: none. */
const struct pod *task_pod_find(const struct pod *pods, enum task_kind kind);
/* Whether it was created for this policy and purpose. */
bool task_pod_is_for(const struct intern *strings, const struct pod *p, const char *policy_uid,
                     const char *purpose);

#endif
