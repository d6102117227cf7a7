/* Resource arithmetic for Kubernetes quantities, the resources of nodes and the requests of
 * pods. */
#ifndef OSTLER_SIM_ACTORS_AMOUNTS_H
#define OSTLER_SIM_ACTORS_AMOUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The first resources of each table, in this order; extended resources follow as they are met. */
enum { AMOUNT_CPU, AMOUNT_MEMORY, AMOUNT_STORAGE, AMOUNT_PODS, AMOUNT_EXTENDED, AMOUNT_MAX = 32 };

/* An amount of each resource, in thousandths. */
struct amounts {
    int64_t of[AMOUNT_MAX];
};

/* Resource names, at the same index as in struct amounts. */
struct amount_names {
    char *names[AMOUNT_MAX];
    int count;
};

/* Initializes the table with the standard resources. */
void amount_names_init(struct amount_names *n);
void amount_names_clear(struct amount_names *n);
/* A quantity in thousandths ("2" is 2000, "100m" is 100, "1Ki" is 1024000); 0 if it is invalid. */
int64_t amount_parse(const char *quantity);
/* The amounts in a resource list, such as a node's allocatable. Ignores names that do not fit the
 * table. */
struct amounts amounts_of_list(struct amount_names *n, const json_t *list);
/* The requests of a pod: the sum of its containers or its largest init container, whichever is
 * more, and one pod. */
struct amounts amounts_of_pod(struct amount_names *n, const json_t *pod);
/* Adds `sign` times the amounts. */
void amounts_add(struct amounts *a, const struct amounts *b, int sign);

#endif
