/* What a run with a finding wrote, held against a run without faults: the first other write, and
 * what stands around it. */
#ifndef OSTLER_TESTS_SWEEP_TRACE_H
#define OSTLER_TESTS_SWEEP_TRACE_H

#include "tests/sweep/run.h"

/* Both with their lines kept (run_plan.keep_text) and of one seed. */
void trace_tell(const struct run_result *reference, const struct run_result *got, struct buf *out);

#endif
