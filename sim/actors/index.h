/* Objects by where they are and whose they are, kept by commits: the pods of each node, the dependents of each owner, and what of
 * each node's resources is taken. In the order in which they came. */
#ifndef OSTLER_SIM_ACTORS_INDEX_H
#define OSTLER_SIM_ACTORS_INDEX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/actors/amounts.h"
#include "sim/api/api.h"

struct index_set;

/* An object that is indexed: a pod, or anything with owners. Strings are borrowed from the object. */
struct index_object {
    const struct kind *kind;
    json_t *object;           /* as the API server has it */
    const char *uid;
    const char *controller;   /* the controller's uid; NULL: it has none */
    const char *home;         /* of a pod: the node where it runs, or where alone it may run; NULL: neither */
    bool bound;               /* of a pod: it has a nodeName */
    bool counts;              /* of a pod: it takes resources there */
    struct amounts requests;  /* of a pod */
    struct index_set *on;     /* the pods of its home */
    struct index_set **under; /* the dependents of its owners */
    size_t under_count;
};

/* Some of them; borrowed, and their places move with every commit. */
struct index_set {
    struct index_object **items;
    size_t len, cap;
    struct amounts used; /* of a node: what its pods take */
    char *key;
};

struct index;

/* An index of no objects, owned by the caller. */
struct index *index_new(void);
/* Frees it; objects are the API server's. */
void index_free(struct index *ix);
/* To be called first of all for every commit. */
void index_commit(struct index *ix, const struct api_commit *c);
/* Pods that run on a node or may only run there. Never NULL. */
const struct index_set *index_pods_on(const struct index *ix, const char *node);
/* Objects that have an owner of this uid. Never NULL. */
const struct index_set *index_dependents(const struct index *ix, const char *uid);
/* The dependents of one kind, as a list that stays as it is when they change. New reference. */
json_t *index_copy(const struct index *ix, const struct kind *k, const char *uid);
/* The names of resources that its amounts go by. Borrowed. */
struct amount_names *index_names(struct index *ix);

#endif
