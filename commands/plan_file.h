/* The policy of `ostler plan -f`: a whole one, in place of the cluster's. */
#ifndef OSTLER_PLAN_FILE_H
#define OSTLER_PLAN_FILE_H

#include <jansson.h>

#include "controller/options.h"

/* The policy in o->file; NULL after it was said, on standard error, what is wrong with it. New reference. */
json_t *plan_file_load(const struct options *o);
/* Says on standard error which fields the cluster's policy sets and the file leaves out, where that makes a difference: who gives
 * only the fields that he changes would otherwise read a plan for something else than he means. */
void plan_file_compare(const struct options *o, const json_t *server, const json_t *file);

#endif
