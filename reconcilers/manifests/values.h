/* What an object is rendered from, and the values that follow from it for overlays and parts. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_VALUES_H
#define OSTLER_RECONCILERS_MANIFESTS_VALUES_H

#include "reconcilers/model/operand.h"

/* All members are borrowed for the call. */
struct render_context {
    const char *operand_namespace; /* namespace of the children */
    const char *policy_uid;
    const json_t *spec; /* effective spec: of the pool for tiers, of the policy for followers */
    /* Of the revision; for a follower follower_inputs(), for the agent agent_inputs(); NULL:
     * none. */
    const json_t *inputs;
    const char *hash; /* of the revision; NULL for objects without a revision */
    /* Ostler's own image, for its containers in operands; NULL: not known, so it must be on the
     * nodes as "ostler". It is not an input, so a new Ostler makes no new revision. */
    const char *agent_image;
    bool keep_off_control_plane; /* pods of DaemonSets must not run on control plane nodes */
};

/* One tree with five branches. `section`: the operand's section of the effective spec, for values
 * that may change without a new revision. `inputs`: those of the revision. `operand`: the operand's
 * part of them. `derived`: values computed from them, such as the full image, or names as the
 * images spell them. `own`: values_own(). New reference. */
json_t *values_of(const struct operand_row *o, const struct render_context *ctx);
/* The values for containers of Ostler's own image. If the image is not known (NULL), they use an
 * image that is already on the nodes, and no registry is asked for it. New reference. */
json_t *values_own(const char *agent_image, const json_t *spec);

#endif
