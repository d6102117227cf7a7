/* Into the store of the simulator's API server, past everything that it checks of a write. Apart
 * from the testbed, since the simulator's store and the operator's tables use the same names. */
#ifndef OSTLER_TESTS_SUPPORT_TESTBED_STORE_H
#define OSTLER_TESTS_SUPPORT_TESTBED_STORE_H

#include "sim/api/api.h"

/* Stores `after` as it is in place of `before` (NULL: there was none); NULL: it goes at once.
 * Watches tell of it. */
void testbed_commit(struct api *api, const struct kind *k, const json_t *before,
                    json_t *after_steal);
/* The object as the commit of a version left it, or as it was when that removed it. New reference.
 */
json_t *testbed_committed(const struct api *api, uint64_t rv);

#endif
