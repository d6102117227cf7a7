/* Index of objects, updated by commits: the pods of each node, the dependents of each owner, and
 * the used resources of each node. Sets keep the order of addition. */
#ifndef OSTLER_SIM_ACTORS_INDEX_H
#define OSTLER_SIM_ACTORS_INDEX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/actors/amounts.h"
#include "sim/api/api.h"

struct index_set;

/* An indexed object: a pod, or an object with owners. Strings are borrowed from the object. */
struct index_object {
    const struct kind *kind;
    json_t *object; /* as in the API server */
    const char *uid;
    const char *controller;   /* the controller's uid; NULL: none */
    const char *home;         /* of a pod: its node, or the only node that it fits; NULL: neither */
    bool bound;               /* of a pod: it has a nodeName */
    bool counts;              /* of a pod: it uses resources of its home */
    struct amounts requests;  /* of a pod */
    struct index_set *on;     /* the pods of its home */
    struct index_set **under; /* the dependents of each of its owners */
    size_t under_count;
};

/* A set of indexed objects; borrowed, and rearranged by every commit. */
struct index_set {
    struct index_object **items;
    size_t len, cap;
    struct amounts used; /* of a node: resources that its pods use */
    char key[];
};

struct index;

/* Creates an empty index, owned by the caller. */
struct index *index_new(void);
/* Frees the index; the API server owns the objects. */
void index_free(struct index *ix);
/* Must run first for every commit. */
void index_commit(struct index *ix, const struct api_commit *c);
/* Pods that are bound to a node or fit no other. Never NULL. */
const struct index_set *index_pods_on(const struct index *ix, const char *node);
/* Objects with an owner of this uid. Never NULL. */
const struct index_set *index_dependents(const struct index *ix, const char *uid);
/* A copy of the dependents of one kind, which commits do not change. New reference. */
json_t *index_copy(const struct index *ix, const struct kind *k, const char *uid);
/* The resource names for its amounts. Borrowed. */
struct amount_names *index_names(struct index *ix);

#endif
