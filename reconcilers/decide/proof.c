#include "reconcilers/decide/proof.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/task_pod.h"

enum {
    AGAIN_S = 600, /* delay before a failed validation is retried */
    /* The same if it never ran: its kubelet refused it, or its image was not pulled in time. */
    AGAIN_SOON_S = 60,
};

/* State of one check of one node. */
struct looking {
    const struct node_pass *p;
    const struct proof_case *c;
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
    return (unsigned) l->p->in->view.node->gpus;
}

static void proof_describe(struct looking *l, enum proof_result result, enum reason reason,
                           const char *message)
{
    l->out->result = result;
    l->out->reason = reason;
    l->out->message = message;
}

static void proof_wait(struct looking *l, const char *message)
{
    proof_describe(l, PROOF_WAITS, REASON_VALIDATING, message);
}

/* ---- results */

/* The facts are about one unit. The memory of a slice is not that of a GPU. */
static bool shows_whole_gpu(const struct looking *l, const struct proof_facts *facts)
{
    const char *resource = intern_text(l->p->in->view.strings, pod_task(l->pod)->resource);
    return !*facts->slice &&
           (str_eq(resource, RESOURCE_GPU) || str_eq(resource, RESOURCE_GPU ".shared"));
}

/* A validation of a node that is closed for a fault forgets no GPU: the node still needs all that
 * it had. */
static unsigned gpus_to_record(const struct looking *l)
{
    const struct node_view *view = &l->p->in->view;
    struct proof before = { 0 };
    bool closed = marks_have_taint(view, TAINT_UNHEALTHY) && proof_of_node(view, &before);
    return closed && before.gpus > offered(l) ? before.gpus : offered(l);
}

static void pass(struct looking *l, enum proof_way way, const struct proof_facts *facts,
                 const char *message)
{
    struct proof *p = &l->out->proof;
    *p = (struct proof){ .way = way, .gpus = gpus_to_record(l), .facts = *facts };
    assignment_copy(&p->of, l->c->of);
    proof_describe(l, PROOF_PASSES, REASON_VALIDATED, message);
}

/* Jobs that run on the GPUs show that these work. Earlier facts about the same driver stay
 * valid. */
static void pass_by_count(struct looking *l)
{
    struct proof before = { 0 };
    if (!proof_of_node(&l->p->in->view, &before))
        before = (struct proof){ 0 };
    pass(l, PROOF_BY_COUNT, &before.facts,
         arena_printf(l->p->a,
                      "every GPU is in use, so no CUDA program can run: the kubelet reports %u "
                      "GPUs, as many as before, and Ostler accepts that as the validation",
                      offered(l)));
}

static bool counts(const struct looking *l)
{
    return l->c->may_count && l->p->in->pods->gpus_taken > 0 && offered(l) >= l->c->gpus_before;
}

/* ---- the pod */

/* The version that the driver container had to load. Other drivers may have any version. */
static const char *wanted_version(const struct looking *l)
{
    const json_t *driver = operands_inputs(l->p->in, TIER_DRIVER, l->c->of.hash[TIER_DRIVER]);
    bool container = str_eq(json_str(driver, "source"),
                            driver_source_name(DRIVER_SOURCE_CONTAINER));
    return container ? json_str(driver, "version") : NULL;
}

/* The pod has ended; its result counts for this long. */
static void fail_for(struct looking *l, int64_t span_s, enum reason reason, const char *message)
{
    int64_t now_s = l->p->in->now_s, left = task_made_s(pod_task(l->pod), now_s) + span_s - now_s;
    if (left <= 0) {
        l->out->keep = NULL;
        proof_wait(l, "the validation failed, and Ostler runs it again");
        return;
    }
    actions_requeue(l->p->actions, left * 1000);
    proof_describe(l, reason ? PROOF_FAILS : PROOF_WAITS, reason ? reason : REASON_VALIDATING,
                   message);
}

static void look_at_words(struct looking *l)
{
    struct proof_facts facts;
    const char *wanted = wanted_version(l);
    proof_read(str_or_empty(intern_text(l->p->in->view.strings, pod_task(l->pod)->said)), &facts);
    if (!proof_version_fits(wanted, facts.driver)) {
        fail_for(l, AGAIN_S, REASON_VERSION_MISMATCH,
                 arena_printf(l->p->a,
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
    bool begun = pod_task(l->pod)->begun;
    fail_for(l, begun ? AGAIN_S : AGAIN_SOON_S, begun ? REASON_VALIDATION_FAILED : REASON_NONE,
             arena_printf(l->p->a, "%s: %s (pod %s)",
                          begun ? "no CUDA program runs there" : "the validation pod did not start",
                          problem, l->pod->head.key));
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
        proof_wait(l, arena_printf(l->p->a, "the validation pod waits: %s (pod %s)", problem, key));
    } else {
        proof_wait(
            l,
            arena_printf(l->p->a, "Ostler runs a CUDA program on a GPU of the node (pod %s)", key));
    }
}

static void proof_look_at_pod(struct looking *l)
{
    enum task_state state = pod_task(l->pod)->state;
    l->out->keep = l->pod;
    if (state == TASK_DONE)
        look_at_words(l);
    else if (state == TASK_FAILED)
        look_at_end(l);
    else
        look_at_pending(l);
}

/* ---- */

/* GPUs are missing since the last validation, and only a user knows whether that is intended. */
static void wait_for_gpus(struct looking *l, unsigned before)
{
    proof_describe(l, PROOF_WAITS, REASON_GPUS_MISSING,
                   arena_printf(l->p->a,
                                "the kubelet reports %u GPUs, and reported %u at the last "
                                "validation. If the change is intended, run: kubectl annotate "
                                "node %s " ANNOTATION_PROOF "-",
                                offered(l), before, l->p->in->view.node->head.key));
}

/* Whether the annotation has this validation. More GPUs than then are recorded; fewer are not what
 * was validated, unless the device plugin withholds the bad ones. */
static bool proof_holds(struct looking *l)
{
    struct proof *p = &l->out->proof;
    const struct node_view *view = &l->p->in->view;
    if (!proof_of_node(view, p) || !proof_is_of(p, l->c->of))
        return false;
    if (offered(l) + l->p->v->withheld < p->gpus) {
        wait_for_gpus(l, p->gpus);
        return true;
    }
    if (offered(l) > p->gpus)
        p->gpus = offered(l);
    proof_describe(
        l, PROOF_HOLDS, REASON_NONE,
        p->way == PROOF_BY_COUNT
            ? "every GPU was in use when the node was last changed: the kubelet reported as "
              "many as before, and Ostler accepted that as the validation"
            : NULL);
    return true;
}

/* One working GPU says nothing about GPUs that another driver does not find. If hardware is the
 * cause, the deadline passes and a user must act. */
static bool lacks_gpus(struct looking *l)
{
    if (!l->c->needs_all || offered(l) + l->p->v->withheld >= l->c->gpus_before)
        return false;
    l->out->timed = true;
    l->out->keep = l->pod;
    if (l->p->in->view.node->claim == INTERN_NONE)
        wait_for_gpus(l, l->c->gpus_before);
    else
        proof_describe(l, PROOF_WAITS, REASON_GPUS_MISSING,
                       arena_printf(l->p->a, "the kubelet reports %u GPUs, and reported %u before",
                                    offered(l), l->c->gpus_before));
    return true;
}

static bool is_needless(const struct looking *l)
{
    const struct node_input *in = l->p->in;
    return !in->policy->validation.enabled || in->view.node->gpus == 0 || l->c->nothing_ours;
}

void proof_look(const struct node_pass *p, const struct proof_case *c, struct proof_look *ret)
{
    const struct node_input *in = p->in;
    *ret = (struct proof_look){ .result = PROOF_NEEDLESS };
    struct looking l = {
        .p = p, .c = c, .out = ret, .pod = task_pod_find(in->pod_list, TASK_PROOF)
    };
    char purpose[TASK_PURPOSE_MAX];
    if (is_needless(&l) || proof_holds(&l) || lacks_gpus(&l))
        return;
    task_purpose(c->of, purpose);
    bool ours = l.pod && task_pod_is_for(in->view.strings, l.pod, in->policy->uid, purpose);
    if (l.pod && (l.pod->deleting || !ours)) {
        proof_wait(&l, "waits until the pod of an earlier validation is gone");
    } else if (l.pod) {
        proof_look_at_pod(&l);
    } else if (in->pods->gpus_taken >= offered(&l) && counts(&l)) {
        pass_by_count(&l);
    } else {
        ret->make = true;
        proof_wait(&l, "Ostler runs a CUDA program on a GPU of the node");
    }
}

/* Driver branches that cannot run the built-in sample, oldest first: CUDA 12 needs branch 525 or
 * newer, CUDA 11 branch 450 (NVIDIA's table of minor version compatibility, CUDA 12 release notes).
 * The sample tags are those of NVIDIA's documents for these branches. */
static const struct {
    int64_t below;       /* for branches older than this */
    const char *version; /* of the built-in image */
} legacy[] = {
    { 525, "vectoradd-cuda11.7.1-ubuntu20.04" },
};

/* The sample for a driver, whose branch is "470" for "470.256.02"; NULL: the built-in one, or the
 * branch is not known. */
static const char *legacy_version(const char *driver_version)
{
    int64_t branch = 0;
    CLEANUP_FREE char *text = xstrndup(str_or_empty(driver_version),
                                       strcspn(str_or_empty(driver_version), "."));
    if (!str_parse_int(text, 1, INT32_MAX, &branch))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(legacy); i++)
        if (branch < legacy[i].below)
            return legacy[i].version;
    return NULL;
}

char *proof_image(const struct policy *policy, const json_t *driver_inputs)
{
    if (!policy_names_sample(policy->spec))
        return NULL;
    const json_t *given = json_object_get(policy->spec, operand_get(OPERAND_VALIDATION)->section);
    const char *fits = json_str(given, "image")
                           ? NULL
                           : legacy_version(json_str(driver_inputs, "version"));
    struct policy_image image;
    policy_image_resolve(policy->spec, OPERAND_VALIDATION, NULL, fits, &image);
    bool digest = str_has_prefix(image.version, "sha256:");
    char *reference = xasprintf("%s%s%s", image.image, digest ? "@" : ":", image.version);
    policy_image_clear(&image);
    return reference;
}

static int proof_make(const struct node_pass *p, const struct proof_case *c, struct err *e)
{
    const struct node_input *in = p->in;
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
                           "runs a CUDA program, to prove that a GPU of the node works", p->actions,
                           e);
}

static void clear_but(const struct node_pass *p, const struct pod *keep)
{
    for (const struct pod *pod = p->in->pod_list; pod; pod = pod->next_on_node)
        if (pod != keep && pod_task(pod) && pod_task(pod)->kind == TASK_PROOF)
            task_pod_delete(pod, REASON_VALIDATE,
                            "the validation is no longer needed: Ostler deletes its pod",
                            p->actions);
}

void proof_act(const struct node_pass *p, const struct proof_case *c, const struct proof_look *look)
{
    CLEANUP_ERR struct err e = { 0 };
    clear_but(p, look->result == PROOF_PASSES ? NULL : look->keep);
    if (look->make && proof_make(p, c, &e) < 0)
        verdict_set(p, NODE_FAILED, REASON_VALIDATION_FAILED,
                    "the validation pod cannot be created: %s", err_msg(&e));
}

void proof_clear(const struct node_pass *p)
{
    clear_but(p, NULL);
}
