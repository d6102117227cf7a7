/* What must exist before an object is created: its namespace, the definition of its custom kind,
 * and a pod's RuntimeClass. The server does not add the overhead and the scheduling of a
 * RuntimeClass to pods. */
#ifndef OSTLER_SIM_API_REFERENCES_H
#define OSTLER_SIM_API_REFERENCES_H

#include <jansson.h>

#include "sim/api/api.h"

/* 0, or -1 and a refusal if something is missing or being deleted. `name` is the object's name in
 * the refusal: generateName if the name is not made yet. */
int references_admit(const struct api *api, const struct kind *k, const char *ns, const char *name,
                     const json_t *object, struct refusal *r);

#endif
