#include "reconcilers/decide/proof.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/proof_image.h"
#include "reconcilers/decide/task_pod.h"

enum {
    AGAIN_S = 600, /* delay before a failed validation is retried */
    /* The same if it never ran: its kubelet refused it, or its image was not pulled in time. */
    AGAIN_SOON_S = 60,
};

/* State of one check of one node. */
struct looking {
    const struct node_input *in;
    const struct proof_case *c;
    struct arena *a;
    struct actions *actions;
    struct proof_look *out;
    const struct pod *pod; /* the validation pod; NULL: none */
};

bool proof_of_node(const struct node_view *view, struct proof *ret)
{
    return proof_parse(intern_text(view->strings, view->node->proof), ret);
}

bool proof_is_done(const struct proof_look *look)
{
    return look->result == PROOF_NEEDLESS || look->result == PROOF_HOLDS ||
           look->result == PROOF_PASSES;
}

const char *proof_outdated(const struct node_view *view, struct arena *a)
{
    struct proof p;
    if (!proof_of_node(view, &p))
        return NULL;
    p.of = (struct assignment){ 0 };
    CLEANUP_FREE char *text = proof_text(&p);
    return arena_strdup(a, text);
}

static unsigned offered(const struct looking *l)
{
    return (unsigned) l->in->view.node->gpus;
}

static void proof_say(struct looking *l, enum proof_result result, enum reason reason,
                      const char *message)
{
    l->out->result = result;
    l->out->reason = reason;
    l->out->message = message;
}

/* ---- results */

/* The facts are about one unit. The memory of a slice is not that of a GPU. */
static bool shows_whole_gpu(const struct looking *l, const struct proof_facts *facts)
{
    const char *resource = intern_text(l->in->view.strings, pod_task(l->pod)->resource);
    return !*facts->slice &&
           (str_eq(resource, RESOURCE_GPU) || str_eq(resource, RESOURCE_GPU ".shared"));
}

static void pass(struct looking *l, enum proof_way way, const struct proof_facts *facts,
                 const char *message)
{
    struct proof *p = &l->out->proof;
    *p = (struct proof){ .way = way, .gpus = offered(l), .facts = *facts };
    assignment_copy(&p->of, l->c->of);
    proof_say(l, PROOF_PASSES, REASON_VALIDATED, message);
}

/* Jobs that run on the GPUs show that these work. Earlier facts about the same driver stay
 * valid. */
static void pass_by_count(struct looking *l)
{
    struct proof before;
    struct proof_facts facts = { 0 };
    if (proof_of_node(&l->in->view, &before))
        facts = before.facts;
    pass(l, PROOF_BY_COUNT, &facts,
         arena_printf(l->a,
                      "every GPU is in use, so no CUDA program can run: the kubelet reports %u "
                      "GPUs, as many as before, "
                      "and Ostler accepts that as the validation",
                      offered(l)));
}

static bool counts(const struct looking *l)
{
    return l->c->may_count && l->in->pods->gpus_taken > 0 && offered(l) >= l->c->gpus_before;
}

/* ---- the pod */

/* The version that the driver container had to load. Other drivers may have any version. */
static const char *wanted_version(const struct looking *l)
{
    const json_t *driver = operands_inputs(l->in, TIER_DRIVER, l->c->of.hash[TIER_DRIVER]);
    return str_eq(json_str(driver, "source"), driver_source_name(DRIVER_SOURCE_CONTAINER))
               ? json_str(driver, "version")
               : NULL;
}

/* The pod has ended; its result counts for this long. */
static void fail_for(struct looking *l, int64_t span_s, enum reason reason, const char *message)
{
    int64_t left = task_made_s(pod_task(l->pod), l->in->now_s) + span_s - l->in->now_s;
    if (left <= 0) {
        l->out->keep = NULL;
        proof_say(l, PROOF_WAITS, REASON_VALIDATING,
                  "the validation failed, and Ostler runs it again");
        return;
    }
    actions_requeue(l->actions, left * 1000);
    proof_say(l, reason ? PROOF_FAILS : PROOF_WAITS, reason ? reason : REASON_VALIDATING, message);
}

static void look_at_words(struct looking *l)
{
    struct proof_facts facts;
    const struct task *t = pod_task(l->pod);
    const char *wanted = wanted_version(l);
    proof_read(str_or_empty(intern_text(l->in->view.strings, t->said)), &facts);
    if (!proof_version_fits(wanted, facts.driver)) {
        fail_for(l, AGAIN_S, REASON_VERSION_MISMATCH,
                 arena_printf(l->a,
                              "the loaded driver is %s, and %s was wanted: reboot the node if its "
                              "driver cannot be unloaded",
                              facts.driver, wanted));
        return;
    }
    if (!shows_whole_gpu(l, &facts))
        facts.memory_mib = 0;
    pass(l, PROOF_BY_POD, &facts, "a CUDA program ran on a GPU of the node");
}

static void look_at_end(struct looking *l)
{
    const char *problem = l->pod->problem ? l->pod->problem
                                          : "it failed without a termination message";
    const char *key = l->pod->head.key;
    if (pod_task(l->pod)->begun)
        fail_for(l, AGAIN_S, REASON_VALIDATION_FAILED,
                 arena_printf(l->a, "no CUDA program runs there: %s (pod %s)", problem, key));
    else
        fail_for(l, AGAIN_SOON_S, REASON_NONE,
                 arena_printf(l->a, "the validation pod did not start: %s (pod %s)", problem, key));
}

static void look_at_pending(struct looking *l)
{
    const struct task *t = pod_task(l->pod);
    const char *key = l->pod->head.key, *problem = l->pod->problem;
    l->out->timed = t->bound;
    if (t->unschedulable && counts(l)) {
        l->out->keep = NULL;
        pass_by_count(l);
    } else if (problem) {
        proof_say(l, PROOF_WAITS, REASON_VALIDATING,
                  arena_printf(l->a, "the validation pod waits: %s (pod %s)", problem, key));
    } else {
        proof_say(
            l, PROOF_WAITS, REASON_VALIDATING,
            arena_printf(l->a, "Ostler runs a CUDA program on a GPU of the node (pod %s)", key));
    }
}

static void proof_look_at_pod(struct looking *l)
{
    l->out->keep = l->pod;
    switch (pod_task(l->pod)->state) {
    case TASK_DONE:
        look_at_words(l);
        break;
    case TASK_FAILED:
        look_at_end(l);
        break;
    case TASK_PENDING:
    case TASK_RUNNING:
        look_at_pending(l);
        break;
    }
}

/* ---- */

/* Whether the annotation has this validation. More GPUs than then are recorded; fewer are not what
 * was validated. */
static bool proof_holds(struct looking *l)
{
    struct proof *p = &l->out->proof;
    if (!proof_of_node(&l->in->view, p) || !proof_is_of(p, l->c->of))
        return false;
    if (offered(l) < p->gpus) {
        proof_say(l, PROOF_WAITS, REASON_GPUS_MISSING,
                  arena_printf(l->a,
                               "the kubelet reports %u GPUs, and reported %u at the last "
                               "validation. If the change is "
                               "intended, run: "
                               "kubectl annotate node %s " ANNOTATION_PROOF "-",
                               offered(l), p->gpus, l->in->view.node->head.key));
        return true;
    }
    p->gpus = offered(l);
    proof_say(l, PROOF_HOLDS, REASON_NONE,
              p->way == PROOF_BY_COUNT ? "every GPU was in use when the node was last changed: the "
                                         "kubelet reported as many as "
                                         "before, and Ostler accepted that as the validation"
                                       : NULL);
    return true;
}

/* One working GPU says nothing about GPUs that another driver does not find. If hardware is the
 * cause, the deadline passes and a user must act. */
static bool lacks_gpus(struct looking *l)
{
    if (!l->c->needs_all || offered(l) >= l->c->gpus_before)
        return false;
    l->out->timed = true;
    l->out->keep = l->pod;
    proof_say(l, PROOF_WAITS, REASON_GPUS_MISSING,
              arena_printf(l->a, "the kubelet reports %u GPUs, and reported %u before", offered(l),
                           l->c->gpus_before));
    return true;
}

static bool is_needless(const struct looking *l)
{
    return !l->in->policy->validation.enabled || l->in->view.node->gpus == 0 || l->c->nothing_ours;
}

void proof_look(const struct node_input *in, const struct proof_case *c, struct arena *a,
                struct actions *actions, struct proof_look *ret)
{
    *ret = (struct proof_look){ .result = PROOF_NEEDLESS };
    struct looking l = { .in = in,
                         .c = c,
                         .a = a,
                         .actions = actions,
                         .out = ret,
                         .pod = task_pod_find(in->pod_list, TASK_PROOF) };
    char purpose[TASK_PURPOSE_MAX];
    if (is_needless(&l) || proof_holds(&l) || lacks_gpus(&l))
        return;
    task_purpose(c->of, purpose);
    bool ours = l.pod && task_pod_is_for(in->view.strings, l.pod, in->policy->uid, purpose);
    if (l.pod && (l.pod->deleting || !ours)) {
        proof_say(&l, PROOF_WAITS, REASON_VALIDATING,
                  "waits until the pod of an earlier validation is gone");
    } else if (l.pod) {
        proof_look_at_pod(&l);
    } else if (in->pods->gpus_taken >= offered(&l) && counts(&l)) {
        pass_by_count(&l);
    } else {
        ret->make = true;
        proof_say(&l, PROOF_WAITS, REASON_VALIDATING,
                  "Ostler runs a CUDA program on a GPU of the node");
    }
}

static int proof_make(const struct node_input *in, const struct proof_case *c,
                      struct actions *actions, struct err *e)
{
    char purpose[TASK_PURPOSE_MAX];
    const json_t *spec = json_object_get(in->policy->spec,
                                         operand_get(OPERAND_VALIDATION)->section);
    task_purpose(c->of, purpose);
    CLEANUP_FREE char *image = proof_image(
        in->policy, operands_inputs(in, TIER_DRIVER, c->of.hash[TIER_DRIVER]));
    struct render_image container = { "proof", image, json_str(spec, "imagePullPolicy") };
    struct render_task want = { .kind = TASK_PROOF,
                                .operand_namespace = in->operand_namespace,
                                .policy_uid = in->policy->uid,
                                .purpose = purpose,
                                .node = in->view.node->head.key,
                                .images = &container,
                                .image_count = 1,
                                .pull_secrets = json_object_get(spec, "imagePullSecrets"),
                                .agent_image = in->agent_image,
                                .spec = in->policy->spec,
                                .resource = intern_text(in->view.strings, in->view.node->device),
                                .deadline_s = in->policy->validation.timeout_s };
    return task_pod_create(in->manifests, &want, REASON_VALIDATE,
                           "runs a CUDA program, to prove that a GPU of the node works", actions,
                           e);
}

static void clear_but(const struct node_input *in, const struct pod *keep, struct actions *actions)
{
    for (const struct pod *p = in->pod_list; p; p = p->next_on_node)
        if (p != keep && pod_task(p) && pod_task(p)->kind == TASK_PROOF)
            task_pod_delete(p, REASON_VALIDATE,
                            "the validation is no longer needed: Ostler deletes its pod", actions);
}

int proof_act(const struct node_input *in, const struct proof_case *c,
              const struct proof_look *look, struct actions *actions, struct err *e)
{
    clear_but(in, look->result == PROOF_PASSES ? NULL : look->keep, actions);
    return look->make ? proof_make(in, c, actions, e) : 0;
}

void proof_clear(const struct node_input *in, struct actions *actions)
{
    clear_but(in, NULL, actions);
}
