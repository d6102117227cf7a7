/* Checks whether NVIDIA publishes a driver container image for a configuration. */
#ifndef OSTLER_RECONCILERS_MODEL_DRIVER_IMAGES_H
#define OSTLER_RECONCILERS_MODEL_DRIVER_IMAGES_H

#include <jansson.h>

#include "base/arena.h"

/* One sentence that says why no image exists for a driver's inputs (revision.h), and what to do.
 * NULL: an image exists, or Ostler cannot know. Ostler cannot know for another repository, a
 * digest, a version or branch outside the table, or another driver source. From the arena. */
const char *driver_images_problem(struct arena *a, const json_t *inputs);

#endif
