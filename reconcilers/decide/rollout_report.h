/* The result of the last rollout pass, which the policy's pass writes into revision records and the
 * status. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_REPORT_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_REPORT_H

#include "reconcilers/decide/rollout_types.h"

/* A rollout_note that outlives its pass. */
struct report_note {
    char hash[REVISION_HASH_MAX];
    const char *pool; /* name, because another policy may number pools differently */
    int64_t canary_s, wave_s;
    const char *failed; /* "<node> <reason>"; NULL: no change */
};

/* Zero-initialised: no pass yet. */
struct rollout_report {
    bool known;
    enum rollout_hold hold;
    int64_t until_s;                                    /* as in struct rollout_decision */
    const char *message;                                /* NULL: no message */
    const char *failure, *failure_node, *failure_retry; /* as in struct rollout_failure */
    size_t pending, active, waiting, failed, skipped, done;
    char plan_hash[REVISION_HASH_MAX];
    struct budget_line slots, out, out_gpus;
    struct report_note *notes;
    size_t note_count;
    struct arena arena; /* of the texts and notes */
};

/* Copies a decision for these pools. Returns whether anything changed. */
bool rollout_report_take(struct rollout_report *r, const struct rollout_decision *d,
                         const char *const *pool_names);
/* Why no other node starts, as a reason. */
enum reason rollout_report_reason(const struct rollout_report *r);
/* Frees what it owns and makes it empty. */
void rollout_report_clear(struct rollout_report *r);

#endif
