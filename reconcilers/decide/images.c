#include "reconcilers/decide/images.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/decide/node_types.h"

enum {
    IMAGES_MAX = 16, /* more than operands have; further images are pulled when their pod starts */
    /* Delay of a new pull pod after one was ended, for example because a node is short of disk
     * space. */
    AGAIN_S = 120,
};

/* ---- purpose of a pod */

static uint64_t add_to_hash(uint64_t hash, const json_t *value)
{
    const char *text = json_string_value(value);
    if (text)
        return hash * 31 + str_hash(text, strlen(text));
    JSON_EACH (item, value)
        hash = add_to_hash(hash, item);
    return hash * 31 + json_array_size(value);
}

/* Hashes a section's pull settings. */
static uint64_t add_section(uint64_t hash, const json_t *spec, const struct operand_row *o)
{
    static const char *const keys[] = { "repository", "image", "version", "imagePullPolicy",
                                        "imagePullSecrets" };
    for (size_t k = 0; k < ARRAY_LEN(keys); k++)
        hash = add_to_hash(hash, json_object_get(json_object_get(spec, o->section), keys[k]));
    return hash;
}

void images_purpose(struct assignment_ref target, const json_t *spec,
                    char out[static IMAGES_PURPOSE_MAX])
{
    uint64_t hash = 0;
    task_purpose(target, out);
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->class == OPERAND_CLASS_TIER)
            hash = add_section(hash, spec, o);
    hash = add_section(hash, spec, operand_get(OPERAND_AGENT));
    hash = add_section(hash, spec, operand_get(OPERAND_VALIDATION));
    size_t len = strlen(out);
    snprintf(out + len, IMAGES_PURPOSE_MAX - len, ".%08x", (unsigned) (hash & 0xffffffff));
}

/* ---- state on a node */

static struct images missing(const struct intern *strings, const struct pod *p)
{
    const struct task *t = pod_task(p);
    const char *problem = p->problem ? p->problem : "the pod that pulls them was terminated";
    if (t->no_image)
        problem = str_or_empty(intern_text(strings, t->why_no_image));
    return (struct images){ IMAGES_MISSING, .image = intern_text(strings, t->no_image),
                            .words = problem };
}

struct images images_look(const struct pod *pods, const struct intern *strings,
                          const char *policy_uid, const char *purpose)
{
    const struct pod *p = task_pod_find(pods, TASK_PULL);
    const struct task *t = p ? pod_task(p) : NULL;
    if (!t)
        return (struct images){ .state = IMAGES_UNKNOWN };
    bool ours = task_pod_is_for(strings, p, policy_uid, purpose),
         over = t->state == TASK_DONE || t->state == TASK_FAILED;
    if (ours && t->images > 0 && t->pulled == t->images)
        return (struct images){ .state = IMAGES_READY };
    if (ours && !p->deleting && (t->no_image || t->unschedulable || over))
        return missing(strings, p);
    return (struct images){ .state = IMAGES_PULLING, .since_s = t->created_s };
}

/* ---- images to pull */

struct list {
    struct arena *arena;
    struct render_image images[IMAGES_MAX];
    size_t count;
    json_t *secrets; /* names without duplicates */
};

static void add_image(struct list *l, const char *component, const char *image, const char *policy)
{
    for (size_t i = 0; i < l->count; i++)
        if (str_eq(l->images[i].image, image))
            return;
    if (l->count == IMAGES_MAX || !*image)
        return;
    l->images[l->count] = (struct render_image){
        .name = arena_printf(l->arena, "%s-%zu", component, l->count),
        .image = arena_strdup(l->arena, image),
        .pull_policy = policy ? arena_strdup(l->arena, policy) : NULL
    };
    l->count++;
}

/* Adds names, or references to them. */
static void add_secrets(struct list *l, const json_t *references)
{
    JSON_EACH (reference, references) {
        json_t *wanted = json_is_string(reference) ? reference : json_object_get(reference, "name");
        bool there = false;
        JSON_EACH (name, l->secrets)
            there |= json_equal(name, wanted);
        if (wanted && !there)
            json_array_append(l->secrets, wanted);
    }
}

/* Adds the images of a DaemonSet's pods, as rendered. */
static int add_operand(struct list *l, const struct manifests *m, const struct operand_row *o,
                       const struct render_context *ctx, struct err *e)
{
    static const char *const lists[] = { "initContainers", "containers" };
    CLEANUP_JSON json_t *object = render_object(m, render_daemonset(o->id), ctx, e);
    if (!object)
        return -1;
    const json_t *spec = json_at(object, "spec.template.spec");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        JSON_EACH (container, json_object_get(spec, lists[i]))
            add_image(l, o->name, json_str_or_empty(container, "image"),
                      json_str(container, "imagePullPolicy"));
    }
    add_secrets(l, json_object_get(spec, "imagePullSecrets"));
    return 0;
}

/* The revision that an operand changes with; NULL: it does not change. */
static const struct render_context *comes_with(const struct images_wanted *want,
                                               const struct operand_row *o)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (operand_is_in(o, want->of[t].inputs))
            return &want->of[t];
    return NULL;
}

bool images_any(const struct images_wanted *want)
{
    bool any = want->proof.image;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        any |= comes_with(want, o) != NULL;
    return any;
}

int images_pull(const struct manifests *m, const struct images_wanted *want,
                struct actions *actions, struct err *e)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_JSON json_t *secrets = json_array();
    struct list l = { .arena = &a, .secrets = secrets };
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (comes_with(want, o) && add_operand(&l, m, o, comes_with(want, o), e) < 0)
            return -1;
    if (want->proof.image) {
        add_image(&l, want->proof.name, want->proof.image, want->proof.pull_policy);
        add_secrets(&l, want->proof_secrets);
    }
    const struct render_task task = { .kind = TASK_PULL,
                                      .operand_namespace = want->operand_namespace,
                                      .policy_uid = want->policy_uid,
                                      .purpose = want->purpose,
                                      .node = want->node,
                                      .images = l.images,
                                      .image_count = l.count,
                                      .pull_secrets = secrets };
    return task_pod_create(
        m, &task, REASON_PULL_IMAGES,
        "pulls the images of the node's next revision while the node is still in service", actions,
        e);
}

/* ---- cleanup */

static bool is_held(const struct node_input *in)
{
    return in->view.node->cordoned || in->view.node->gave_up || node_is_held(&in->view);
}

/* Whether the node may still need the images. Either it serves, or it was tainted and not changed,
 * and no user holds it. Or it is under way to another target and waits to switch, even if a user
 * holds it. */
static bool may_wait(const struct node_input *in, const struct node_verdict *v)
{
    struct claim c;
    const char *text = intern_text(in->view.strings, in->view.node->claim);
    if (!text)
        return !is_held(in);
    if (!claim_parse(text, &c, NULL))
        return false;
    if (claim_is_changing(&c))
        return !claim_is_for(&c, assignment_ref(&v->target));
    return (claim_phase_progress(c.phase) == CLAIM_UNCHANGED || !claim_closes(&c)) && !is_held(in);
}

static bool is_waited_for(const struct node_input *in, const struct node_verdict *v,
                          const struct pod *p)
{
    char purpose[IMAGES_PURPOSE_MAX];
    if (!in->policy || node_bears(&in->view, &v->target) || !may_wait(in, v))
        return false;
    images_purpose(assignment_ref(&v->target), targets_spec(in->targets, v->pool), purpose);
    return task_pod_is_for(in->view.strings, p, in->policy->uid, purpose);
}

/* It ended before all images were pulled. Requests a requeue for the next attempt. */
static bool was_ended(const struct node_input *in, const struct pod *p, struct actions *actions)
{
    const struct task *t = pod_task(p);
    if ((t->state != TASK_DONE && t->state != TASK_FAILED) || t->pulled == t->images)
        return false;
    int64_t made_s = task_made_s(t, in->now_s);
    int64_t since_s = t->ended_s > made_s && !clock_is_ahead(t->ended_s, in->now_s) ? t->ended_s
                                                                                    : made_s;
    int64_t left_s = since_s > in->now_s ? AGAIN_S : since_s + AGAIN_S - in->now_s;
    if (left_s > 0)
        actions_requeue(actions, left_s * 1000);
    return left_s <= 0;
}

void images_clean(const struct node_pass *p)
{
    const struct pod *pod = task_pod_find(p->in->pod_list, TASK_PULL);
    if (!pod)
        return;
    if (!is_waited_for(p->in, p->v, pod))
        task_pod_delete(
            pod, REASON_IMAGES_PULLED,
            "the images that the pod pulls are no longer needed: Ostler deletes the pod",
            p->actions);
    else if (was_ended(p->in, pod, p->actions))
        task_pod_delete(pod, REASON_PULL_IMAGES,
                        "the pod ended before it had pulled all images: Ostler replaces it",
                        p->actions);
}
