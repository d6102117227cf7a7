/* Checks of what is on a node's disk before the node is taken out of service. */
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

/* An image of the pods of a DaemonSet that the machine has not; NULL: it has all. */
static const char *missing_image(const struct invariants *v, const char *node,
                                 const json_t *daemonset)
{
    static const char *const lists[] = { "spec.template.spec.initContainers",
                                         "spec.template.spec.containers" };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        size_t k;
        json_t *container;
        json_array_foreach (json_at(daemonset, lists[i]), k, container)
            if (!actors_has_image(v->run->actors, node, json_str_or_empty(container, "image")))
                return json_str(container, "image");
    }
    return NULL;
}

/* Whether a DaemonSet is of a revision that the claim brings. */
static bool comes(const struct reading_claim *claim, const json_t *daemonset)
{
    const char *tier = object_label(daemonset, LABEL_TIER),
               *hash = object_label(daemonset, LABEL_REVISION);
    return (str_eq(tier, "driver") && str_eq(hash, claim->driver) &&
            !str_eq(hash, claim->from_driver)) ||
           (str_eq(tier, "stack") && str_eq(hash, claim->stack) &&
            !str_eq(hash, claim->from_stack));
}

/* Whether a node that was under way to something else turns to what the claim says; back to what is
 * known good it may go without more ado. */
static bool turns(const struct reading_claim *before, const struct reading_claim *after)
{
    return reading_is_changing(before) && str_eq(after->kind, "Upgrade") &&
           !(str_eq(before->driver, after->driver) && str_eq(before->stack, after->stack));
}

/* A node that is closed already pulls when its pods come. */
void check_images(struct invariants *v, const struct api_commit *c)
{
    struct reading_claim claim, before;
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after ||
        !check_claim_of(c->after, &claim) ||
        (check_is_closed(c->before) &&
         !(check_claim_of(c->before, &before) && turns(&before, &claim))))
        return;
    const struct kind *daemonsets = kind_named("daemonsets");
    check_tried(v, INVARIANT_S3_IMAGES);
    for (size_t i = 0; i < api_count(v->run->api, daemonsets); i++) {
        const json_t *daemonset = api_at(v->run->api, daemonsets, i);
        const char *image = comes(&claim, daemonset)
                                ? missing_image(v, object_name(c->after), daemonset)
                                : NULL;
        if (image)
            check_failed(v, INVARIANT_S3_IMAGES, "%s is claimed without %s", object_name(c->after),
                         image);
    }
}
