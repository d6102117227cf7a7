#ifndef OSTLER_MODEL_POLICY_PROBLEMS_H
#define OSTLER_MODEL_POLICY_PROBLEMS_H

#include <stddef.h>

#include "base/mem.h"
#include "reconcilers/model/policy.h"

/* Records problems of a policy, for the files that check it. A place is a chain on the C stack that
 * leads to the root; it becomes text only for a problem. */
enum policy_place_kind {
    PLACE_FIELD, /* ".name" */
    PLACE_ITEM,  /* "[index]" */
    PLACE_KEY,   /* "[name]": a map entry, whose key may contain dots */
};

struct policy_place {
    const struct policy_place *up; /* NULL: the root */
    enum policy_place_kind kind;
    const char *name;
    size_t index;
};

/* Records one problem. Control characters become "?", because users read it in terminals. */
void policy_problem_add(struct policy_problems *problems, const struct policy_place *place,
                        const char *fmt, ...) PRINTF(3, 4);

/* Number of problems found, including those that were not kept. */
size_t policy_problems_count(const struct policy_problems *problems);

/* Adds a problem for each selector of an effective spec that stops matching once Ostler labels the
 * nodes that it selects. */
void policy_check_selectors(const json_t *spec, struct policy_problems *problems);

#endif
