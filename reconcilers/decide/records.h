/* The records of revisions (ControllerRevisions): what their annotations say of each pool. */
#ifndef OSTLER_RECONCILERS_DECIDE_RECORDS_H
#define OSTLER_RECONCILERS_DECIDE_RECORDS_H

#include "reconcilers/decide/cluster_view.h"

/* Whether some node of the pool has run the revision. What was only ever meant to run there may be bad. */
bool record_has_run(const struct child *record, const char *pool);
/* Which of two revisions of a tier a pool rather holds on to, below 0 for the first: what was complete there before what was not,
 * what was so later before what was so earlier; the same for what ran there; then what it wants now. 0 only for one and the
 * same. */
int record_order(const struct child *a, const struct child *b, const char *pool);
/* When an annotation of the record says that something was so in the pool, in seconds of the epoch; 0: it does not. */
int64_t record_time_s(const struct child *record, const char *annotation, const char *pool);
/* How long the canary of the revision has been well in the pool, as in struct rollout_revision. */
int64_t record_canary_s(const struct child *record, const char *pool);
/* Since when the last wave of the rollout is over; ROLLOUT_WAVE_RUNNING: one has begun; 0: there was none. */
int64_t record_wave_s(const struct child *record, const char *pool);
/* Whether as many nodes of the pool failed with the revision as the policy allows. */
bool record_has_failed(const struct child *record, const char *pool);
/* Where the revision failed first in the pool, and with what: "gpu-1 CrashLoopBackOff". Borrowed; NULL: it has not. */
const char *record_failure(const struct child *record, const char *pool);
/* Whether the revision has failed in some pool. */
bool record_has_failed_anywhere(const struct child *record);
/* Whether two records say the same of failures, canaries and what was completed: targets rest on that. NULL: there is none. */
bool record_standing_same(const struct child *a, const struct child *b);
/* Whether some pool would go back to the revision: it comes first among those of its tier and kind of host that ran there. */
bool record_is_held(const struct cluster_view *v, const struct child *record);
/* Whether it was complete in some pool and comes second there: a person who goes back to it waits for no canary. */
bool record_was_held(const struct cluster_view *v, const struct child *record);
/* Annotations that the record of a revision should bear, as a map: since when each pool wants it, when it first ran there, and
 * when it was complete. `record` is NULL while there is none. New reference. */
json_t *record_annotations(const struct cluster_view *v, const char *tier, const char *hash, const struct child *record);

#endif
