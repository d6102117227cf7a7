/* The kinds of the simulated API server, one row each: names, scope, subresources and special
 * behaviour. */
#ifndef OSTLER_SIM_API_KIND_H
#define OSTLER_SIM_API_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* Subresources, a set of bits. */
enum subresource {
    SUB_NONE = 0,
    SUB_STATUS = 1,
    SUB_EVICTION = 2,
    SUB_SCALE = 4,
    SUB_BINDING = 8,
    SUB_LOG = 16,
};

/* Special behaviour of a kind, a set of bits. */
enum kind_flag {
    KIND_GENERATION = 1, /* metadata.generation counts changes of the spec */
    KIND_GRACEFUL = 2,   /* deleted with a grace period (pods) */
    KIND_CUSTOM = 4,     /* exists only while its CustomResourceDefinition does */
    KIND_PUT_CREATES =
        /* an update of an absent object creates it: leases, events, services, runtimeclasses, roles
         * and their bindings */
    8,
    KIND_NEEDS_VERSION =
        /* an update must have a resourceVersion: leases, runtimeclasses, poddisruptionbudgets,
         * definitions, custom kinds */
    16,
    KIND_RETURNS_DELETED =
        /* a deletion answers with the object rather than a Status: pods, services, serviceaccounts
         */
    32,
    KIND_ORPHANS = 64, /* dependents are orphaned unless the deletion says otherwise: jobs */
};

struct kind {
    const char *group; /* "" = core */
    const char *version;
    const char *group_version; /* "apps/v1"; "/v1" in the core group: kind_api_version() reads it */
    const char *kind;
    const char *plural;
    const char *singular;
    const char *short_names; /* comma-separated */
    const char *category;    /* "all": what `kubectl get all` lists; "" = none */
    bool namespaced;
    unsigned subresources; /* of enum subresource */
    unsigned flags;        /* of enum kind_flag */
};

/* All kinds; `index` of a kind is its place here, and the store keeps one table for each. */
size_t kind_count(void);
const struct kind *kind_at(size_t index);
size_t kind_index(const struct kind *k);
/* By group, version and plural, as in a path; NULL if there is none. */
const struct kind *kind_of_path(const char *group, const char *version, const char *plural);
/* By apiVersion ("apps/v1") and kind; NULL if there is none. */
const struct kind *kind_of(const char *api_version, const char *kind);
/* By plural alone ("pods"), for the program's own use; "events" are those of events.k8s.io. Aborts
 * if there is none. */
const struct kind *kind_named(const char *plural);
/* "v1", "apps/v1". Static text for as long as the program runs. */
const char *kind_api_version(const struct kind *k);

#endif
