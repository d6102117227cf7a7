/* The fields that leave the process on the fleet page, besides the columns of fleet_row.h. What is
 * not listed stays. A test compares the lists with the status of the policy and of the GpuNodes,
 * which viewers of a cluster may read: nothing comes from environments, annotations or tokens. */
#ifndef OSTLER_RECONCILERS_FLEET_FIELDS_H
#define OSTLER_RECONCILERS_FLEET_FIELDS_H

#include <jansson.h>

/* Paths of members; "[]" stands for the items of a list. NULL ends each list. */
extern const char *const fleet_policy_fields[], *const fleet_node_fields[];

/* A copy of a tree with the listed members only, and with texts in which what would mislead a
 * reader is escaped visibly. New reference. */
json_t *fleet_fields_pick(const json_t *tree, const char *const *fields);

#endif
