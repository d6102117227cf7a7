/* What sweeps do with the faults of a plan: they count them, describe them, and use them again. */
#ifndef OSTLER_TESTS_SWEEP_FAULTS_TOLD_H
#define OSTLER_TESTS_SWEEP_FAULTS_TOLD_H

#include "sim/world/faults.h"

/* How often any fault of the plan has fired. */
uint64_t fault_total(const struct fault_plan *plan);
/* Resets counters and state: the fault is as before a run. */
void fault_rewind(struct fault *f);
/* A description of the fault: "the answer is lost". Static text. */
const char *fault_text(const struct fault *f);

#endif
