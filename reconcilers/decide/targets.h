/* What each kind of host is meant to run under a policy: the revisions of both tiers, worked out once per pool and kind
 * of host. */
#ifndef OSTLER_RECONCILERS_DECIDE_TARGETS_H
#define OSTLER_RECONCILERS_DECIDE_TARGETS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "reconcilers/model/host.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/revision.h"

/* How a revision stands in a pool, from the records. Zero = nothing is recorded. */
struct revision_standing {
    bool completed;            /* a rollout of it was completed */
    bool failed;               /* as many nodes failed with it as the policy allows, and nobody has asked for another try */
    int64_t canary_s;          /* since when its canary nodes have all been up, seconds of the epoch; 0: they have not */
    /* Hash of the revision for the same kind of host that completed last and did not fail; NULL: none did. */
    const char *good;
    const json_t *good_inputs; /* of that one. Both borrowed */
};

/* What targets ask about the cluster. */
struct target_sources {
    /* Inputs of the revisions that a pool holds on to where the policy leaves a version open, as a list with the best first, a
     * new reference; NULL: none. The function itself is NULL where nothing is held. */
    json_t *(*held)(void *arg, const char *pool, const char *tier);
    /* How a revision with these inputs stands in a pool; NULL: no records are kept. */
    void (*standing)(void *arg, const char *pool, const char *hash, const json_t *inputs, struct revision_standing *ret);
    /* The text under a key of a ConfigMap in the operand namespace, borrowed; NULL when there is none. The function itself is
     * NULL where there are no ConfigMaps. */
    const char *(*config_text)(void *arg, const char *name, const char *key);
    void *arg;
    bool control_plane; /* nodes of the control plane have a target like any other */
};

/* The container runtime names a toolkit of the host's own, and that one's program is not there. */

/* The target of one kind of host in one pool. */
struct target {
    enum driver_source source;
    /* No driver: the host has its own; no stack: none can be chosen, and `problem` says why. */
    struct assignment runs;
    json_t *inputs[TIERS];  /* of these revisions; NULL where the hash is "" */
    size_t pool;
    enum reason reason; /* NONE when both tiers are as they should be */
    char *problem;      /* the sentence to `reason` */
    /* That is the problem: nobody publishes an image of the driver for this host. Both tiers are there all the same: nodes that
     * run another driver keep it and are told; new nodes get nothing. */
    bool no_image;
    /* The stack brings a toolkit of ours that was never complete in the pool: nodes without a stack get it in turn. */
    bool toolkit_in_turn;
    bool failed;        /* a revision of it has failed in the pool */
    bool known_good;    /* it is what the pool goes back to */
    int64_t canary_s;   /* since when the canary nodes of what is new in it have been up; 0: not yet */
    struct target *good; /* what the pool goes back to: known good revisions; NULL: none are, or they are these */
};

struct targets;

/* `policy` must be valid and is borrowed. */
struct targets *targets_new(const struct policy *policy, const struct target_sources *sources);
/* Frees them; NULL is none. */
void targets_free(struct targets *t);
/* The target for a host. `host_driver`: the host has a driver of its own. Borrowed from `t`. */
const struct target *targets_for(struct targets *t, size_t pool, const struct node_facts *facts, bool host_driver);
/* The inputs of a revision that is some target, with its pool; NULL when none has this hash. Borrowed. */
const json_t *targets_inputs(const struct targets *t, const char *tier, const char *hash, size_t *ret_pool);
/* Why there is no image of a driver that is some target of the pool; NULL: there is, or nobody knows. Borrowed from `t`. */
const char *targets_no_image(const struct targets *t, size_t pool, const char *driver);
/* Whether the policy says another revision than this one for the machines of the pool: for one as those that it was for, from
 * whatever source, and for none says it. True as well where there is no such pool. */
bool targets_displace(const struct targets *t, const json_t *inputs, const char *hash, const char *pool);
/* The effective spec of a pool; borrowed. */
const json_t *targets_spec(const struct targets *t, size_t pool);
/* Calls fn for each target that has been asked for. */
void targets_each(const struct targets *t, void (*fn)(void *arg, const struct target *target), void *arg);

#endif
