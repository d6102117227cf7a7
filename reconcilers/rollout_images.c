#include "reconcilers/rollout_images.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/proof.h"
#include "reconcilers/targets_sources.h"

/* For a tier that changes; the record of the target exists. */
static struct render_context context_of(const struct cluster *c, const struct rollout_node *n,
                                        enum tier tier)
{
    const char *target = n->target.hash[tier];
    struct render_context ctx = { .operand_namespace = c->o.operand_namespace,
                                  .policy_uid = c->policy.uid,
                                  .hash = target,
                                  .agent_image = c->o.agent_image };
    if (*target && !str_eq(n->now.hash[tier], target))
        ctx.inputs = cluster_record((void *) c, tier, target);
    return ctx;
}

/* Computed on first use. */
static const json_t *rollout_images_spec_of(const struct cluster *c, const struct rollout_node *n)
{
    return targets_spec(cluster_targets((struct cluster *) c), n->pool);
}

static struct images_wanted wanted(const struct cluster *c, const struct rollout_node *n,
                                   char purpose[static IMAGES_PURPOSE_MAX])
{
    images_purpose(n->target, rollout_images_spec_of(c, n), purpose);
    struct images_wanted want = { .node = n->name,
                                  .purpose = purpose,
                                  .policy_uid = c->policy.uid,
                                  .operand_namespace = c->o.operand_namespace };
    for (enum tier t = 0; t < TIERS; t++)
        want.of[t] = context_of(c, n, t);
    return want;
}

/* A tainted node pulls when its pods start. A node under way to something else gets there without
 * these images. */
static bool pulls_later(const struct rollout_node *n)
{
    const struct claim *c = n->claim;
    return c && claim_closes(c) && (!claim_is_changing(c) || claim_is_for(c, n->target));
}

/* Skips nodes that run their target or pull later. Most nodes have no pull pod and cost only that
 * check. */
struct images rollout_images(const struct cluster *c, const struct node_slot *slot,
                             const struct rollout_node *n)
{
    char purpose[IMAGES_PURPOSE_MAX];
    const char *driver = n->target.hash[TIER_DRIVER];
    bool changes_driver = !str_eq(n->now.hash[TIER_DRIVER], driver);
    if (assignment_same(n->now, n->target) || pulls_later(n))
        return (struct images){ .state = IMAGES_READY };
    const char *none = changes_driver ? targets_no_image(cluster_targets((struct cluster *) c),
                                                         n->pool, driver)
                                      : NULL;
    if (none)
        return (struct images){ .state = IMAGES_MISSING, .words = none };
    if (task_pod_find(slot->pods, TASK_PULL)) {
        images_purpose(n->target, rollout_images_spec_of(c, n), purpose);
        return images_look(slot->pods, c->strings, c->policy.uid, purpose);
    }
    if (changes_driver && *driver)
        return (struct images){ .state = IMAGES_UNKNOWN }; /* a driver has an image */
    const struct images_wanted want = wanted(c, n, purpose);
    return (struct images){ .state = images_any(&want) ? IMAGES_UNKNOWN : IMAGES_READY };
}

/* The inputs of the driver that the node will run; NULL: a driver that Ostler did not install. */
static const json_t *driver_to_be(const struct cluster *c, const struct rollout_node *n)
{
    const char *driver = n->target.hash[TIER_DRIVER];
    return *driver ? cluster_record((void *) c, TIER_DRIVER, driver) : NULL;
}

int rollout_pull(const struct cluster *c, const struct manifests *m, const struct rollout_node *n,
                 struct actions *actions, struct err *e)
{
    char purpose[IMAGES_PURPOSE_MAX];
    struct images_wanted want = wanted(c, n, purpose);
    CLEANUP_FREE char *proof = c->policy.validation.enabled
                                   ? proof_image(&c->policy, driver_to_be(c, n))
                                   : NULL;
    const json_t *validation = json_object_get(c->policy.spec,
                                               operand_get(OPERAND_VALIDATION)->section);
    for (enum tier t = 0; t < TIERS; t++)
        want.of[t].spec = rollout_images_spec_of(c, n);
    want.proof = (struct render_image){ "proof", proof, json_str(validation, "imagePullPolicy") };
    want.proof_secrets = json_object_get(validation, "imagePullSecrets");
    return images_pull(m, &want, actions, e);
}
