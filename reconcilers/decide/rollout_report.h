/* What the last pass of the rollout came to: what the policy's pass writes into the records of revisions, and what the
 * status says. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_REPORT_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_REPORT_H

#include "reconcilers/decide/rollout.h"

/* A rollout_note that outlives its pass. */
struct report_note {
    char hash[REVISION_HASH_MAX];
    char *pool; /* its name, since another policy may number pools otherwise; owned */
    int64_t canary_s, wave_s;
    char *failed; /* "<node> <reason>"; NULL: no news of that. Owned */
};

/* Zero-initialised = no pass was made yet. */
struct rollout_report {
    bool known;
    enum rollout_hold hold;
    char *message; /* owned; NULL: nothing to say */
    char *failure, *failure_node, *failure_retry; /* as struct rollout_failure has them; owned */
    size_t pending, active, waiting, failed, skipped, done;
    char plan_hash[REVISION_HASH_MAX];
    struct budget_line slots, out, out_gpus;
    struct report_note *notes;
    size_t note_count;
};

/* Takes over what was decided for these pools; returns whether anything is another than it was. */
bool rollout_report_take(struct rollout_report *r, const struct rollout_decision *d, const char *const *pool_names);
/* Why nobody else begins, in one word. */
enum reason rollout_report_reason(const struct rollout_report *r);
/* Frees what it owns; nothing is known afterwards. */
void rollout_report_clear(struct rollout_report *r);

#endif
