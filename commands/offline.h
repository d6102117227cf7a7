/* Commands that need no cluster. They return the exit code. */
#ifndef OSTLER_OFFLINE_H
#define OSTLER_OFFLINE_H

#include "controller/options.h"
#include "reconcilers/model/policy.h"

/* Prints as YAML the objects for the policy in o->file and the node in o->node_file. Without a
 * node, it does so for each pool on a common kind of host. */
int offline_render(const struct options *o);
/* Reports errors in the policy in o->file: file, line, field, sentence. */
int offline_validate(const struct options *o);

/* Loads and decodes the policy in o->file. `ret_object`, if not NULL, gets a new reference to
 * the object, and is unchanged if the file is not a policy. On failure it reports the error on
 * stderr and returns false. Clear `ret` in either case. */
bool offline_policy(const struct options *o, struct policy *ret, json_t **ret_object);

#endif
