/* Containers: a namespace contains its objects, a CustomResourceDefinition the objects of its kind.
 * Deleting a container deletes its content; the container is removed after its last object. In a
 * cluster two controllers do this; here the deletion does it at once. */
#ifndef OSTLER_SIM_API_CONTAINER_H
#define OSTLER_SIM_API_CONTAINER_H

#include <stdbool.h>

#include "sim/api/admit.h"

/* Whether objects of this kind contain others. */
bool container_is(const struct kind *k);
/* Deletes a container: marks it, deletes its content, and removes it when it is empty. `ret` as
 * with write_delete(). */
int container_delete(struct admission *a, json_t **ret, bool *ret_gone, struct refusal *r);
/* After a commit that removes an object or changes a container: removes a deleted container that is
 * empty and has no finalizers. */
void container_after(struct api *api, const struct kind *k, const char *ns, const char *name);

#endif
