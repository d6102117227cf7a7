/* Whether an image of NVIDIA's driver container is published, as far as that is known. */
#ifndef OSTLER_RECONCILERS_MODEL_DRIVER_IMAGES_H
#define OSTLER_RECONCILERS_MODEL_DRIVER_IMAGES_H

#include <jansson.h>

#include "base/arena.h"

/* One sentence that says why there is no image for a driver's inputs (revision.h), and what can be done; NULL where there is one,
 * or where nobody knows: with another repository, a digest, a version or a branch that the table does not have, or inputs of
 * another source than NVIDIA's container. From the arena. */
const char *driver_images_problem(struct arena *a, const json_t *inputs);

#endif
