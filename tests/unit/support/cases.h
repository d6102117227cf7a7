/* Case files: one test for each file of a folder, named by its path, in the order of their names. A
 * new case is a new file. */
#ifndef OSTLER_TESTS_SUPPORT_CASES_H
#define OSTLER_TESTS_SUPPORT_CASES_H

#include "tests/unit/support/cmocka.h"

/* Runs `check` for each *.yaml of the folder, with its path as the state; what main() returns. A
 * folder without any is a failure. */
int cases_run(const char *group, const char *folder, CMUnitTestFunction check);

#endif
