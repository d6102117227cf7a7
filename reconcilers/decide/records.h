/* The records of revisions (ControllerRevisions): their state for each pool, in annotations. */
#ifndef OSTLER_RECONCILERS_DECIDE_RECORDS_H
#define OSTLER_RECONCILERS_DECIDE_RECORDS_H

#include "reconcilers/decide/cluster_view.h"

/* Whether a node of the pool has run the revision. A revision that was only a target may be bad. */
bool record_has_run(const struct child *record, const char *pool);
/* Orders two revisions of a tier by what a pool prefers to keep; below 0: the first. Completed
 * before not completed, later before earlier; then the same for running; then what the pool wants
 * now. 0 only for the same revision. */
int record_order(const struct child *a, const struct child *b, const char *pool);
/* The time in an annotation of the record for the pool, epoch seconds; 0: none. */
int64_t record_time_s(const struct child *record, const char *annotation, const char *pool);
/* The canary time of the revision in the pool, as in struct rollout_revision. */
int64_t record_canary_s(const struct child *record, const char *pool);
/* When the rollout's last wave ended; ROLLOUT_WAVE_RUNNING: one is running; 0: there was none. */
int64_t record_wave_s(const struct child *record, const char *pool);
/* Whether the revision reached the policy's failure threshold in the pool. */
bool record_has_failed(const struct child *record, const char *pool);
/* The first failure of the revision in the pool: "gpu-1 CrashLoopBackOff". Borrowed; NULL: none. */
const char *record_failure(const struct child *record, const char *pool);
/* Whether two records agree on failures, canaries and completion, on which targets depend. NULL: no
 * record. */
bool record_standing_same(const struct child *a, const struct child *b);
/* Whether a pool would roll back to the revision: it is the first among those of its tier and kind
 * of host that ran there. */
bool record_is_held(const struct cluster_view *v, const struct child *record);
/* Whether it was completed in a pool and is the second there: a user who goes back to it needs no
 * canary. */
bool record_was_held(const struct cluster_view *v, const struct child *record);
/* The annotations for the record of a revision, as a map: for each pool, since when it wants the
 * revision, when it first ran there, and when it was completed. `record`: NULL if there is none
 * yet. New reference. */
json_t *record_annotations(const struct cluster_view *v, const char *tier, const char *hash,
                           const struct child *record);

#endif
