/* Why the repair of a claimed node may not go on: users and admins may withdraw it until its reset
 * or its reboot begins. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_CALL_OFF_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_CALL_OFF_H

#include "reconcilers/model/claim.h"
#include "reconcilers/decide/node_types.h"

/* What is about to begin. */
struct call_off_case {
    bool asked;         /* a user asked for the repair */
    bool reboots;       /* a reboot, not a reset */
    bool cordon_counts; /* not while kured may cordon the node for its reboot */
    bool needless;      /* without its claim the node would ask for no repair */
};

/* One word for the claim; NULL: it may go on. Static. */
const char *repair_call_off(const struct node_input *in, const struct call_off_case *c);
/* The clause for a word: "a user holds the node". Static. */
const char *repair_call_off_text(const char *word);

#endif
