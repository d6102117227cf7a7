/* The problems of a policy, and the places in it that they name. */
#ifndef OSTLER_MODEL_POLICY_PROBLEMS_H
#define OSTLER_MODEL_POLICY_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

/* Maximum problems that are kept of one policy: as many as a user would read. */
#define POLICY_PROBLEMS_MAX 32

/* One error in a policy. */
struct policy_problem {
    char *field;   /* "spec.pools[1].driver.version" */
    char *message; /* a sentence that says what is wrong and what is valid */
};

struct policy_problems {
    struct policy_problem *items;
    size_t len;     /* at most POLICY_PROBLEMS_MAX */
    size_t omitted; /* problems found beyond that */
};

/* Frees the problems and makes the list empty. */
void policy_problems_clear(struct policy_problems *problems);
/* The problems as one text for a condition or a terminal: "field: message; field: message". The
 * caller frees it. */
char *policy_problems_text(const struct policy_problems *problems);
/* Number of problems found, including those that were not kept. */
size_t policy_problems_count(const struct policy_problems *problems);

/* A place in a policy: a chain on the C stack that leads to the root. It becomes text only for a
 * problem. */
struct policy_place {
    const struct policy_place *up; /* NULL: the root */
    const char *name;              /* a field, or a path of fields; NULL: an item of a list */
    bool key;                      /* `name` is a key of a map, which may contain dots: "[name]" */
    size_t index;                  /* of the item */
    struct policy_problems *problems; /* of the whole policy */
};

/* Places for the block that names them: the root, a field or path below a place, an item of a list,
 * an entry of a map. */
#define POLICY_ROOT(list, path) (&(struct policy_place){ .name = (path), .problems = (list) })
#define POLICY_FIELD(above, path)                                                                  \
    (&(struct policy_place){ .up = (above), .name = (path), .problems = (above)->problems })
#define POLICY_ITEM(above, i)                                                                      \
    (&(struct policy_place){ .up = (above), .index = (i), .problems = (above)->problems })
#define POLICY_KEY(above, text)                                                                    \
    (&(struct policy_place){                                                                       \
        .up = (above), .name = (text), .key = true, .problems = (above)->problems })

/* Records a problem of a place. Control characters become "?", because users read it in
 * terminals. */
void policy_problem_add(const struct policy_place *place, const char *fmt, ...) PRINTF(2, 3);

#endif
