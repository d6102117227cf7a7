/* The values for overlays and parts. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_VALUES_H
#define OSTLER_RECONCILERS_MANIFESTS_VALUES_H

#include "reconcilers/manifests/render.h"

/* One tree with five branches. `section`: the operand's section of the effective spec, for values
 * that may change without a new revision. `inputs`: those of the revision. `operand`: the operand's
 * part of them. `derived`: values computed from them, such as the full image, or names as the
 * images spell them. `own`: values_own(). New reference. */
json_t *values_of(const struct operand_row *o, const struct render_context *ctx);
/* The values for containers of Ostler's own image. If the image is not known (NULL), they use an
 * image that is already on the nodes, and no registry is asked for it. New reference. */
json_t *values_own(const char *agent_image, const json_t *spec);

#endif
