/* The policy of `ostler plan -f`: a whole policy that replaces the cluster's. */
#ifndef OSTLER_PLAN_FILE_H
#define OSTLER_PLAN_FILE_H

#include <jansson.h>

#include "controller/options.h"

/* Loads the policy in o->file. On failure it reports the error on stderr and returns NULL. New
 * reference. */
json_t *plan_file_load(const struct options *o);
/* Warns on stderr about fields that the cluster's policy sets and the file omits, if that makes
 * a difference. A user who gives only the changed fields would otherwise misread the plan. */
void plan_file_compare(const struct options *o, const json_t *server, const json_t *file);

#endif
