#include "reconcilers/cluster_policy.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster_shown.h"
#include "reconcilers/model/names.h"

static void forget_problems(struct cluster *c)
{
    policy_problems_clear(&c->problems);
    free(TAKE(c->problem_text));
}

static void forget_policy(struct cluster *c)
{
    targets_free(TAKE(c->targets));
    intents_clear(&c->intents);
    if (c->policy_valid)
        policy_clear(&c->policy);
    c->policy_valid = false;
}

/* Whether a drain may have to move pods without a GPU: the policy drains all, or lets Ostler reboot
 * nodes, which kills all. */
static bool needs_all_pods(const struct cluster *c)
{
    const struct health_spec *h = &c->health;
    return c->rollout.drain.mode == DRAIN_ALL_PODS ||
           (h->repairs && h->mode != HEALTH_MODE_OBSERVE && h->reboot == HEALTH_REBOOT_POD);
}

/* Which pods and labels are cached is decided when they arrive. Until they are listed again,
 * nothing is done. */
static void keep_pods(struct cluster *c)
{
    bool all = needs_all_pods(c);
    struct selector selector = { 0 };
    selector_compile(c->rollout.drain.pod_selector, &selector, NULL);
    bool same = all == c->all_pods &&
                (c->o.all_labels || selector_asks_no_more(&selector, &c->pod_selector));
    selector_clear(&c->pod_selector);
    c->pod_selector = selector;
    if (same)
        return;
    c->all_pods = all;
    if (c->informers[RESOURCE_POD])
        informer_list_anew(c->informers[RESOURCE_POD]);
}

/* Replaces the valid policy by a decoded one. */
static void accept(struct cluster *c, struct policy *policy)
{
    forget_policy(c);
    c->policy = *policy;
    c->policy_valid = true;
    rollout_spec_decode(c->policy.spec, &c->rollout);
    health_spec_decode(c->policy.spec, c->o.limits.repairs, &c->health);
    keep_pods(c);
}

static void cluster_policy_decode(struct cluster *c)
{
    struct policy policy = { 0 };
    forget_problems(c);
    if (policy_decode(c->object, &c->o.limits, &policy, &c->problems) == 0) {
        accept(c, &policy);
        return;
    }
    policy_clear(&policy);
    /* A policy with another uid says nothing about this one. */
    if (c->policy_valid && !str_eq(c->policy.uid, object_uid(c->object)))
        forget_policy(c);
    c->problem_text = policy_problems_text(&c->problems);
    log_warn("policy is not valid", "problems", c->problem_text);
}

/* A storm ends with its policy: the next one begins anew. */
static void forget_storm(struct cluster *c)
{
    brake_list_clear(&c->brake.closings);
    c->brake.now = (struct brake_verdict){ 0 };
}

static void take_absence(struct cluster *c, bool was_deleting)
{
    c->saw_deletion = was_deleting;
    c->absent_since = clock_mono_ms(c->o.clock);
    forget_policy(c);
    forget_problems(c);
    forget_storm(c);
}

/* Whether the parts of the object that decide what nodes should have are equal. */
static bool same_policy_target(const json_t *a, const json_t *b)
{
    return a && b && str_eq(object_uid(a), object_uid(b)) &&
           object_generation(a) == object_generation(b) &&
           object_is_deleting(a) == object_is_deleting(b) &&
           object_has_finalizer(a, POLICY_FINALIZER) == object_has_finalizer(b, POLICY_FINALIZER) &&
           str_eq(object_annotation(a, POLICY_FORCE_REMOVAL),
                  object_annotation(b, POLICY_FORCE_REMOVAL));
}

/* Further inputs of rollout decisions. Ostler's own status writes do not count, nor does the retry
 * annotation, which the revision's record answers: neither is a reason to reconcile every node. */
static bool same_approval(const json_t *a, const json_t *b)
{
    return str_eq(object_annotation(a, POLICY_APPROVED), object_annotation(b, POLICY_APPROVED));
}

void cluster_take_policy(struct cluster *c, const json_t *object)
{
    json_t *before = c->object;
    c->object = json_incref((json_t *) object);
    bool same = same_policy_target(before, object),
         approved_anew = same && !same_approval(before, object);
    if (!object) {
        take_absence(c, before && object_is_deleting(before));
    } else {
        c->absent_since = 0;
        c->saw_deletion = false;
        if (!same)
            cluster_policy_decode(c);
    }
    json_decref(before);
    cluster_shown_policy(c);
    if (!same) {
        cluster_shown_all(c); /* pools and topologyKey may have changed */
        cluster_new_epoch(c);
        return;
    }
    c->o.listener.policy(c->o.listener.arg, false);
    if (approved_anew)
        cluster_enqueue_rollout(c);
}

/* ---- its table */

struct policy_record {
    struct record head;
    json_t *object;
};

/* Keeps only annotations that Ostler uses (80,000 take 12 MiB). All else is shared, read-only. */
static json_t *policy_as_kept(const json_t *object)
{
    json_t *kept = json_copy((json_t *) object),
           *metadata = json_copy(json_object_get(object, "metadata"));
    json_t *annotations = json_object();
    JSON_EACH_MEMBER (key, value, json_object_get(metadata, "annotations"))
        if (str_has_prefix(key, MARK_PREFIX))
            json_object_set(annotations, key, value);
    json_object_set_new(metadata, "annotations", annotations);
    json_object_del(metadata, "managedFields");
    json_object_set_new(kept, "metadata", metadata);
    return kept;
}

static struct record *policy_from(void *arg, const json_t *object)
{
    (void) arg;
    if (!str_eq(object_name(object), POLICY_NAME))
        return NULL;
    struct policy_record *r = record_new(sizeof *r, object);
    r->object = policy_as_kept(object);
    return &r->head;
}

static bool policies_same(void *arg, const struct record *a, const struct record *b)
{
    (void) arg;
    return json_equal(((const struct policy_record *) a)->object,
                      ((const struct policy_record *) b)->object);
}

static void policy_changed(void *arg, struct record *before, struct record *after)
{
    (void) before;
    cluster_take_policy(arg, after ? ((struct policy_record *) after)->object : NULL);
}

static void free_policy(void *arg, struct record *r)
{
    (void) arg;
    json_decref(((struct policy_record *) r)->object);
    record_free(r);
}

struct table_ops cluster_policy_ops(struct cluster *c)
{
    return (struct table_ops){ policy_from, policies_same, policy_changed, free_policy, c };
}
