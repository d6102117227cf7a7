/* How the objects of stories merge. */
#ifndef OSTLER_TESTS_SIM_API_MERGING_H
#define OSTLER_TESTS_SIM_API_MERGING_H

#include "base/json.h"
#include "base/str.h"
#include "sim/api/custom_rules.h"
#include "sim/api/rules.h"

/* By apiVersion and kind of an object; the schemas are freed by the test. Fails a test whose kind
 * is not served. */
static inline const struct merge_root *merging_of(struct custom_schemas *schemas,
                                                  const json_t *object)
{
    const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"),
                                   json_str_or_empty(object, "kind"));
    assert_non_null(k);
    return rules_merge(schemas, k);
}

#endif
