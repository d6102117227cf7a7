/* What each phase of a repair may do: begin an attempt, give up, wait for its pod, or call the
 * repair off. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_STEPS_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_STEPS_H

#include "reconcilers/decide/upgrade_phases.h"

/* Begins an attempt. */
void repair_try(struct upgrade_pass *s, enum repair_kind kind, const char *message);
/* The attempt of this phase does not count. */
void repair_take_back(struct upgrade_pass *s, enum repair_kind kind);
/* The claim has failed. */
void repair_give_up(struct upgrade_pass *s, enum reason reason, const char *message);
/* Begins a reboot when the pods have left that it would kill. `from_s`: since when they may be
 * evicted for it. */
void repair_reboot_when_empty(struct upgrade_pass *s, int64_t from_s, const char *message);
/* A word for why the repair may not go on; NULL: it may (repair_call_off.h). */
const char *repair_why_called_off(const struct upgrade_pass *s, bool reboots, bool cordon_counts);
/* The same before the first attempt. An attempt may itself show that the fault has ended. */
const char *repair_why_not_begun(const struct upgrade_pass *s);
/* The node gets driver and stack back without a reset or a reboot. `word` may be the claim's. */
void repair_calls_off(struct upgrade_pass *s, const char *word);
/* The same before the pod of the phase exists, so that the attempt does not count either. */
void repair_calls_off_attempt(struct upgrade_pass *s, enum repair_kind kind, const char *word);
/* The phase waits for its pod, and creates it if it is missing. */
void repair_wait_for_pod(struct upgrade_pass *s, const char *does, const struct repair_pod *pod);

#endif
