/* What five adversaries do to nodes, to the policy and to Ostler's own objects: a table of edits.
 * Each is one write that the API server carries out at once, based on what is there at this moment.
 */
#ifndef OSTLER_TESTS_SWEEP_SWEEP_WRITERS_EDITS_H
#define OSTLER_TESTS_SWEEP_SWEEP_WRITERS_EDITS_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/api.h"
#include "sim/world/rng.h"

/* The domain of all that is the adversaries' own. */
#define WRITERS_DOMAIN "writer.example.com/"

/* What a edit is done to, as bits. */
enum writers_object { WRITERS_NODE = 1, WRITERS_CHILD = 2, WRITERS_POLICY = 4, WRITERS_ANY = 7 };

struct writers_edit {
    const char *name;
    const char *user;
    unsigned objects; /* of enum writers_object */
    /* what it is about: keys of their own, or Ostler's */
    enum writers_kind { WRITERS_OWN, WRITERS_CORDON, WRITERS_THEFT } kind;
    /* The merge patch of an object; NULL: there is nothing to do. New reference. */
    json_t *(*patch)(const json_t *object, struct rng *rng);
};

const struct writers_edit *writers_edits(size_t *ret_count);
/* Carries out a edit; false when there was nothing to do. */
bool writers_do(struct api *api, const struct writers_edit *edit, const struct kind *k,
                const json_t *object, struct rng *rng);

/* What is foreign on an object: labels, annotations, taints and whether it is cordoned. New
 * reference. */
json_t *writers_foreign(const json_t *object);
/* The patch that takes all of the adversaries' own off an object; NULL: there is nothing. New
 * reference. */
json_t *writers_clean(const json_t *object);
/* The patch that takes marks off a node which the policy sets and which `ostler.dev/marks` does not
 * name, since a thief has changed that; Ostler sets them anew. NULL: there are none. New reference.
 */
json_t *writers_repent(const json_t *node);

#endif
