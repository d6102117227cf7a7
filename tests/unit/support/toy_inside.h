/* What the files of the toy share. */
#ifndef OSTLER_TESTS_SUPPORT_TOY_INSIDE_H
#define OSTLER_TESTS_SUPPORT_TOY_INSIDE_H

#include "tests/unit/support/toy.h"

struct node_slot;

/* A new version of an object in the store, of which the cluster is not told; takes it. */
void toy_store(struct toy *t, enum resource_id resource, json_t *object_steal);
/* What the cluster knows of a node; fails the test when there is none of that name. */
struct node_slot *toy_slot(const struct toy *t, const char *name);

#endif
