/* What shows that the fault of a node's record has ended, if nothing asks to close the node now.
 * What is not known is never good: NVML's word counts for the GPU of the record alone, and only
 * with the fact that its fault is about. */
#ifndef OSTLER_RECONCILERS_DECIDE_CLOSING_EVIDENCE_H
#define OSTLER_RECONCILERS_DECIDE_CLOSING_EVIDENCE_H

#include "reconcilers/decide/closing.h"

/* Whether a fault that is recorded as that of the input has ended. */
bool closing_has_ended(const struct closing_input *in);
/* When that changes because NVML has not spoken since the boot, epoch seconds; 0: it does not. */
int64_t closing_evidence_due_s(const struct closing_input *in);

#endif
