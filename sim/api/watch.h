/* How a watch begins; what comes of it is in api.h. */
#ifndef OSTLER_SIM_API_WATCH_H
#define OSTLER_SIM_API_WATCH_H

#include "sim/api/api.h"
#include "sim/api/extras.h"
#include "sim/api/filter.h"
#include "sim/api/options.h"

/* Starts a watch; takes the filter (which is empty afterwards). With a `table` form, objects are
 * told as tables. -1 and 500 for a broken version; a version that is forgotten is told in the
 * stream. */
int watch_open(struct api *api, const struct kind *k, const struct list_options *o,
               struct filter *filter_steal, enum table_form table, struct api_watch **ret,
               struct refusal *r);

#endif
