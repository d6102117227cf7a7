#ifndef OSTLER_MODEL_POLICY_PROBLEMS_H
#define OSTLER_MODEL_POLICY_PROBLEMS_H

#include <stddef.h>

#include "base/mem.h"
#include "reconcilers/model/policy.h"

/*
 * How problems of a policy are recorded, for the files that look for them. A place is a chain on
 * the stack that leads up to the root; it becomes text only when there is something to say.
 */
enum policy_place_kind {
    PLACE_FIELD, /* ".name" */
    PLACE_ITEM,  /* "[index]" */
    PLACE_KEY,   /* "[name]": an entry of a map, whose key may hold dots */
};

struct policy_place {
    const struct policy_place *up; /* NULL: the root */
    enum policy_place_kind kind;
    const char *name;
    size_t index;
};

/* Records one problem; control characters in it become "?", since people read it in terminals. */
void policy_problem_add(struct policy_problems *problems, const struct policy_place *place,
                        const char *fmt, ...) PRINTF(3, 4);

/* How many were found, also those that were not kept. */
size_t policy_problems_count(const struct policy_problems *problems);

/* Adds a problem for each selector of an effective spec that would not hold any more once Ostler has labelled what it finds. */
void policy_check_selectors(const json_t *spec, struct policy_problems *problems);

#endif
