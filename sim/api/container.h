/* Objects that hold others: a namespace holds what is in it, a CustomResourceDefinition the objects
 * of its kind. Nothing is made in one that is not there or is on its way out; one that is deleted
 * takes its content with it, and goes when the last of it is gone. What two controllers of a
 * cluster do is done here at once, within the deletion. */
#ifndef OSTLER_SIM_API_CONTAINER_H
#define OSTLER_SIM_API_CONTAINER_H

#include <stdbool.h>

#include "sim/api/admit.h"
#include "sim/api/custom.h"

/* 0, or -1 and a refusal where no object of this kind may be made in this namespace. */
int container_admits(const struct api *api, const struct kind *k, const char *ns, const char *name,
                     struct refusal *r);
/* Whether objects of this kind hold others. */
bool container_is(const struct kind *k);
/* Deletes one: marks it, deletes what is in it, and removes it when nothing is left. `ret` as with
 * write_delete(). */
int container_delete(struct admission *a, json_t **ret, bool *ret_gone, struct refusal *r);
/* After a commit that lets an object go, or changes a container: removes the container when nothing
 * holds it any more. */
void container_after(struct api *api, const struct kind *k, const char *ns, const char *name);

#endif
