/* Equal parts of objects as one tree. A tree of JSON takes ten times the memory of its text, and
 * the pods of one DaemonSet differ in little: a large cluster takes a third of the memory. */
#ifndef OSTLER_SIM_API_SHARE_H
#define OSTLER_SIM_API_SHARE_H

#include <jansson.h>

#include "base/map.h"

/* Replaces parts of an object that is about to be stored by equal ones: those of its last state
 * (`before`, or NULL), so that history has little more than what changed; and those of other
 * objects, which are fields of managers, and of a new object labels, owners, what a template says
 * and most of an Event. The values of `parts` are owned by it. */
void share_parts(struct map *parts, const json_t *before, json_t *object);
/* Forgets the parts that no object has. */
void share_forget_unused(struct map *parts);
/* Forgets all parts. */
void share_clear(struct map *parts);

#endif
