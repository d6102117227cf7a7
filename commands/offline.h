/* The commands that need no cluster. They return the exit code. */
#ifndef OSTLER_OFFLINE_H
#define OSTLER_OFFLINE_H

#include "controller/options.h"
#include "reconcilers/model/policy.h"

/* Prints, as YAML, the objects that the policy in o->file gives for the node in o->node_file, or without one for each pool on a
 * common kind of host. */
int offline_render(const struct options *o);
/* Says what is wrong with the policy in o->file: file, line, field, sentence. */
int offline_validate(const struct options *o);

/* The policy in o->file, decoded, and the object itself (may be NULL: not wanted; a new reference, which is left alone where the
 * file is none); false after it was said, on standard error, what is wrong. `ret` is to be cleared in either case. */
bool offline_policy(const struct options *o, struct policy *ret, json_t **ret_object);

#endif
