/* What is known of the repair of a claimed node: its fault, its attempts, and what comes next. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_KNOWN_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_KNOWN_H

#include "reconcilers/decide/upgrade_phases.h"

/* Whether the claim is a repair. */
bool repair_repairs(const struct upgrade_pass *s);
/* The node's record of its fault. */
struct fault_record repair_record(const struct node_input *in);
/* Whether an attempt has begun since the claim, or since its retry. */
bool repair_is_tried(const struct upgrade_pass *s);
/* The next attempt under the node's claim, after a reset that failed or not, as in
 * repair_rungs.h. */
enum repair_kind repair_next(const struct upgrade_pass *s, bool reset_failed, enum reason *ret_why);
/* What a person has to do where Ostler may not go on. Static. */
const char *repair_for_people(enum reason why);
/* The message about the fault. */
const char *repair_fault_text(const struct node_input *in);
/* Whether the boot that a reboot of Ostler's is to end is over. */
bool repair_has_booted(const struct upgrade_pass *s);

#endif
