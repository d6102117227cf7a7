/* The records of revisions (ControllerRevisions): what their annotations say of each pool. */
#ifndef OSTLER_RECONCILERS_PLAN_RECORDS_H
#define OSTLER_RECONCILERS_PLAN_RECORDS_H

#include "reconcilers/plan/cluster_view.h"

/* Whether some pool would go back to the revision: it is the last of its tier and kind of host whose rollout completed there. */
bool record_is_known_good(const struct cluster_view *v, const struct child *record);
/* Annotations that the record of a revision should bear, as a map: since when each pool wants it, and when it was complete there. `record`
 * is NULL while there is none. New reference. */
json_t *record_annotations(const struct cluster_view *v, const char *tier, const char *hash, const struct child *record);

#endif
