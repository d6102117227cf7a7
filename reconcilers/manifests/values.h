/* What overlays and parts are fed with. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_VALUES_H
#define OSTLER_RECONCILERS_MANIFESTS_VALUES_H

#include "reconcilers/manifests/render.h"

/* One tree with four branches: `section` is the operand's section of the effective spec (what may
 * change without a new revision is taken from there), `inputs` are the revision's, `derived` is
 * what follows from them: the whole image, names as the images spell them, and `agent` is what an
 * init container needs that waits with Ostler's own image. New reference. */
json_t *values_of(enum render_object what, const struct render_context *ctx);

#endif
