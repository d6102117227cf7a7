/* What overlays and parts are fed with. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_VALUES_H
#define OSTLER_RECONCILERS_MANIFESTS_VALUES_H

#include "reconcilers/manifests/render.h"

/* One tree with five branches: `section` is the operand's section of the effective spec (what may
 * change without a new revision is taken from there), `inputs` are the revision's, `operand` is what
 * of them is the operand's own, `derived` is what follows from them: the whole image, names as the
 * images spell them, and `own` is values_own(). New reference. */
json_t *values_of(const struct operand_row *o, const struct render_context *ctx);
/* What containers of Ostler's own image need. Where that is not known (NULL) they are of one that has been brought onto the
 * nodes: a registry that nobody has named is never asked for it. New reference. */
json_t *values_own(const char *agent_image, const json_t *spec);

#endif
