/* Resources: quantities as Kubernetes writes them, what nodes have and what pods ask for. */
#ifndef OSTLER_SIM_ACTORS_AMOUNTS_H
#define OSTLER_SIM_ACTORS_AMOUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The first resources of every table, in this order; extended ones follow as they are met. */
enum { AMOUNT_CPU, AMOUNT_MEMORY, AMOUNT_STORAGE, AMOUNT_PODS, AMOUNT_EXTENDED, AMOUNT_MAX = 32 };

/* So much of each resource, in thousandths. */
struct amounts {
    int64_t of[AMOUNT_MAX];
};

/* Names of resources by their place in struct amounts. */
struct amount_names {
    char *names[AMOUNT_MAX];
    int count;
};

/* The table with the resources that every one has. */
void amount_names_init(struct amount_names *n);
/* Frees the names. */
void amount_names_clear(struct amount_names *n);
/* A quantity in thousandths ("2" is 2000, "100m" is 100, "1Ki" is 1024000); 0 where it is none. */
int64_t amount_parse(const char *quantity);
/* The amounts of a list of resources (a node's allocatable). Names beyond the table's end are left aside. */
struct amounts amounts_of_list(struct amount_names *n, const json_t *list);
/* What a pod asks for: its containers together, or the greediest init container where that is more, and one pod. */
struct amounts amounts_of_pod(struct amount_names *n, const json_t *pod);
/* Adds `sign` times the amounts. */
void amounts_add(struct amounts *a, const struct amounts *b, int sign);

#endif
