#include "reconcilers/decide/repair_pod.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/action.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/task_pod.h"

/* How long the pod may take from when its kubelet saw it; longest purpose with its NUL; most GPUs
 * that the program resets at a time. */
enum { LIMIT_S = 600, PURPOSE_MAX = 40, GPUS_MAX = INVENTORY_ADDRESSES_MAX };

static const struct {
    enum task_kind kind;
    const char *suffix; /* of its purpose */
    enum reason reason;
    const char *made;
} jobs[REPAIR_JOB_COUNT] = {
    [REPAIR_JOB_RESET] = { TASK_RESET, "", REASON_RESETTING,
                           "resets GPUs of the node, whose driver is unloaded" },
    [REPAIR_JOB_REBOOT] = { TASK_REBOOT, "", REASON_REBOOTING,
                            "reboots the node, or asks for its reboot" },
    [REPAIR_JOB_WITHDRAW] = { TASK_REBOOT, "-withdraw", REASON_REBOOTING,
                              "removes the file that asks for the node's reboot" },
};

static const char *const gone[TASK_COUNT] = {
    [TASK_RESET] = "the reset is over: Ostler deletes its pod",
    [TASK_REBOOT] = "the reboot is over: Ostler deletes its pod",
};

static void purpose_of(const struct claim *c, enum repair_job job, char ret[static PURPOSE_MAX])
{
    snprintf(ret, PURPOSE_MAX, "%" PRId64 "%s", c->since_s, jobs[job].suffix);
}

static bool is_of(const struct node_pass *p, const struct pod *pod, const struct claim *c,
                  enum repair_job job)
{
    char purpose[PURPOSE_MAX];
    purpose_of(c, job, purpose);
    return task_pod_is_for(p->in->view.strings, pod, p->in->policy->uid, purpose);
}

/* ---- what it did */

static const char *words_of(const struct node_pass *p, const struct pod *pod)
{
    const char *said = intern_text(p->in->view.strings, pod_task(pod)->said);
    if (said)
        return said;
    const char *why_no_image = intern_text(p->in->view.strings, pod_task(pod)->why_no_image);
    if (why_no_image)
        return why_no_image;
    return pod->problem ? pod->problem : "it says nothing";
}

void repair_pod_look(const struct node_pass *p, enum repair_job job, const struct claim *c,
                     struct repair_pod *ret)
{
    static const enum repair_pod_state states[] = { [TASK_PENDING] = REPAIR_POD_WAITS,
                                                    [TASK_RUNNING] = REPAIR_POD_WAITS,
                                                    [TASK_DONE] = REPAIR_POD_DONE,
                                                    [TASK_FAILED] = REPAIR_POD_FAILED };
    const struct pod *pod = task_pod_find(p->in->pod_list, jobs[job].kind);
    *ret = (struct repair_pod){ .state = REPAIR_POD_MISSING };
    if (!pod)
        return;
    if (pod->deleting || !is_of(p, pod, c, job)) {
        *ret = (struct repair_pod){ .state = REPAIR_POD_WAITS,
                                    .words = "the pod of an earlier attempt is still there" };
        return;
    }
    ret->state = states[pod_task(pod)->state];
    ret->words = words_of(p, pod);
    ret->ran = pod_task(pod)->ran;
    ret->ended_s = pod_task(pod)->ended_s;
    ret->made_s = pod->made_s;
}

void repair_pod_look_for(const struct node_pass *p, enum repair_job job)
{
    const char *node = p->in->view.node->head.key;
    char name[TASK_NAME_MAX];
    task_name(jobs[job].kind, node, name);
    CLEANUP_FREE char *selector = xasprintf("metadata.name=%s", name),
                      *target = xasprintf("pod/%s/%s", p->in->operand_namespace, name);
    const struct list_options of = { .ns = p->in->operand_namespace, .field_selector = selector };
    action_add(p->actions, request_look(RESOURCE_TASK, &of), VERB_LOOK, target,
               REASON_REPAIR_CALLED_OFF,
               "lists the pod of the repair, in case it exists and the watch has not reported it");
}

/* ---- the GPUs to reset */

static void add_address(json_t *args, const char *address)
{
    if (*str_or_empty(address) && !json_has_text(args, address) &&
        json_array_size(args) <= GPUS_MAX)
        json_array_append_new(args, json_string(address));
}

/* Those whose facts ask for a reset or more. */
static void add_bad_gpus(const struct health_input *health, json_t *args)
{
    const struct health_status *kept = health_kept(health);
    const struct node_health *facts = health->facts;
    for (size_t i = 0; facts && i < facts->gpus_len; i++)
        if (health_of_gpu(health, facts->gpus[i].address).level >= HEALTH_RESET_WHEN_IDLE)
            add_address(args, facts->gpus[i].address);
    for (size_t i = 0; facts && i < facts->faults_len; i++)
        if (!facts->faults[i].nvswitch &&
            health_of_gpu(health, facts->faults[i].address).level >= HEALTH_RESET_WHEN_IDLE)
            add_address(args, facts->faults[i].address);
    if (kept && kept->level >= HEALTH_RESET_WHEN_IDLE)
        add_address(args, kept->address);
}

static void add_all_gpus(const struct node_inventory *inventory, json_t *args)
{
    char address[INVENTORY_ADDRESS_MAX];
    for (size_t i = 0; inventory && i < INVENTORY_ADDRESSES_MAX; i++)
        if (node_inventory_address(inventory, i, address))
            add_address(args, address);
}

/* The bad ones; all of them if a user asked, or if no GPU is known to be bad any longer. */
static json_t *reset_args(const struct node_pass *p, const struct claim *c)
{
    json_t *args = json_pack("[s]", "reset");
    if (p->in->health && !c->asked)
        add_bad_gpus(p->in->health, args);
    if (json_array_size(args) == 1)
        add_all_gpus(p->in->inventory, args);
    return args;
}

/* ---- the pod */

/* NULL: the policy does not allow it. */
static json_t *args_of(const struct node_pass *p, enum repair_job job, const struct claim *c)
{
    if (job == REPAIR_JOB_RESET)
        return reset_args(p, c);
    if (job == REPAIR_JOB_WITHDRAW)
        return json_pack("[s, s]", "reboot", "withdraw");
    return p->in->health_spec->reboot == HEALTH_REBOOT_NONE
               ? NULL
               : json_pack("[s, s]", "reboot", c->sentinel ? "sentinel" : "pod");
}

void repair_pod_make(const struct node_pass *p, enum repair_job job, const struct claim *c)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *args = args_of(p, job, c);
    enum task_kind kind = jobs[job].kind;
    char purpose[PURPOSE_MAX];
    if (!args)
        return;
    purpose_of(c, job, purpose);
    const struct render_image container = { .name = task_kind_name(kind) };
    const struct render_task want = { .kind = kind,
                                      .operand_namespace = p->in->operand_namespace,
                                      .policy_uid = p->in->policy->uid,
                                      .purpose = purpose,
                                      .node = p->in->view.node->head.key,
                                      .images = &container,
                                      .image_count = 1,
                                      .args = args,
                                      .agent_image = p->in->agent_image,
                                      .spec = p->in->policy->spec,
                                      .deadline_s = LIMIT_S,
                                      .boot = kind == TASK_REBOOT ? c->boot : 0,
                                      .on_control_plane = node_label(&p->in->view,
                                                                     KUBERNETES_CONTROL_PLANE) };
    if (task_pod_create(p->in->manifests, &want, jobs[job].reason, jobs[job].made, p->actions, &e) <
        0)
        verdict_set(p, NODE_FAILED, REASON_REPAIR_FAILED, "the pod that %s cannot be created: %s",
                    jobs[job].made, err_msg(&e));
}

static bool is_repair(const struct pod *pod)
{
    return pod_task(pod) &&
           (pod_task(pod)->kind == TASK_RESET || pod_task(pod)->kind == TASK_REBOOT);
}

void repair_pods_clear(const struct node_pass *p, const struct claim *keep, enum repair_job job)
{
    for (const struct pod *pod = p->in->pod_list; pod; pod = pod->next_on_node)
        if (is_repair(pod) && !(keep && is_of(p, pod, keep, job)))
            task_pod_delete(pod, REASON_REPAIR, gone[pod_task(pod)->kind], p->actions);
}
