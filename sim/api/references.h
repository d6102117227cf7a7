/* Objects that a new one names and that must be there: a pod's RuntimeClass. What a RuntimeClass
 * can say of its pods (overhead, scheduling) is not put into them. */
#ifndef OSTLER_SIM_API_REFERENCES_H
#define OSTLER_SIM_API_REFERENCES_H

#include <jansson.h>

#include "sim/api/api.h"

/* 0, or -1 and 403 where one is not there. `name` is what the refusal calls the object: where a
 * name is yet to be made, its generateName. */
int references_admit(const struct api *api, const struct kind *k, const char *name,
                     const json_t *object, struct refusal *r);

#endif
