#include "reconcilers/decide/followers.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"

/* The inputs of a follower that the policy may leave open, so that they can be kept. New reference;
 * NULL: no inputs. */
static json_t *held_part(const json_t *inputs)
{
    return inputs ? json_pack("{s:O*, s:O*}", "image", json_object_get(inputs, "image"), "version",
                              json_object_get(inputs, "version"))
                  : NULL;
}

/* Whether all pods of the follower have this image and at least one is up. Pods that are not up
 * then fail because of their nodes. */
static bool has_rolled(const struct cluster_view *v, const struct operand_row *follower,
                       const struct child *live, const json_t *image)
{
    CLEANUP_JSON json_t *live_image = live ? held_part(live->inputs) : NULL;
    return v->tally->operands[follower->id].up && json_equal(live_image, image) && live->counted &&
           live->updated == live->desired;
}

static void put_text(json_t *annotations, const char *key, const json_t *value)
{
    CLEANUP_FREE char *text = value ? json_canonical(value) : NULL;
    if (text)
        json_object_set_new(annotations, key, json_string(text));
}

json_t *followers_annotations(const struct cluster_view *v, const struct operand_row *follower,
                              const json_t *inputs)
{
    const struct child *live = cluster_child(v, RESOURCE_DAEMONSET, follower->name);
    CLEANUP_JSON json_t *image = held_part(inputs);
    CLEANUP_JSON json_t *known_good = held_part(has_rolled(v, follower, live, image) ? inputs
                                                : live ? live->known_good
                                                       : NULL);
    json_t *annotations = json_object();
    put_text(annotations, ANNOTATION_INPUTS, image);
    put_text(annotations, ANNOTATION_KNOWN_GOOD, known_good);
    return annotations;
}

/* The traits of nodes' stacks for followers. A stack with DaemonSets may belong to a node that is
 * not reconciled yet. */
static unsigned traits_of_stacks(const struct cluster_view *v)
{
    unsigned traits = 0;
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *c = v->children[i];
        if (c->resource == RESOURCE_REVISION && child_is_ours(c) &&
            str_eq(json_str(c->inputs, "tier"), "stack") &&
            (cluster_has_daemonset(v, c) ||
             tally_nodes(v->tally, "stack", c->revision, TALLY_CARRYING | TALLY_WANTED) > 0))
            traits |= follower_traits(c->inputs);
    }
    return traits;
}

json_t *followers_inputs(const struct cluster_view *v, const struct operand_row *follower)
{
    const struct child *live = cluster_child(v, RESOURCE_DAEMONSET, follower->name);
    unsigned in_part = policy_runs_in_part(v->policy, follower->id) ? FOLLOWER_IN_PART : 0;
    struct host host;
    if (v->any_gpu_node)
        host = host_of(v->any_gpu_node);
    return follower_inputs(follower, v->policy->spec, v->any_gpu_node ? &host : NULL,
                           live ? live->known_good : NULL, traits_of_stacks(v) | in_part);
}
