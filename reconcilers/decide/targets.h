/* The target of each kind of host under a policy: the revisions of both tiers, computed once for
 * each pool and kind of host. */
#ifndef OSTLER_RECONCILERS_DECIDE_TARGETS_H
#define OSTLER_RECONCILERS_DECIDE_TARGETS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "reconcilers/model/host.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/revision.h"

/* The state of a revision in a pool, from the records. Zero: nothing is recorded. */
struct revision_standing {
    bool completed;   /* a rollout of it was completed */
    bool failed;      /* it reached the failure threshold, and no user has asked for a retry */
    int64_t canary_s; /* since when all its canary nodes have been up, epoch seconds; 0: not */
    /* Hash of the last completed revision for the same kind of host that did not fail; NULL:
     * none. */
    const char *good;
    const json_t *good_inputs; /* its inputs. Both borrowed */
};

/* What targets need to know about the cluster. */
struct target_sources {
    /* Inputs of the revisions that a pool keeps if the policy leaves a version open, best first, as
     * a new reference; NULL: none. The function is NULL if nothing is kept. */
    json_t *(*held)(void *arg, const char *pool, const char *tier);
    /* The state of a revision with these inputs in a pool; the function is NULL if there are no
     * records. */
    void (*standing)(void *arg, const char *pool, const char *hash, const json_t *inputs,
                     struct revision_standing *ret);
    /* The text under a key of a ConfigMap in the operand namespace, borrowed; NULL: absent. The
     * function is NULL if there are no ConfigMaps. */
    const char *(*config_text)(void *arg, const char *name, const char *key);
    void *arg;
    bool control_plane; /* control plane nodes have targets too */
};

/* The target of one kind of host in one pool. */
struct target {
    enum driver_source source;
    /* Without a driver: the host has its own. Without a stack: none can be chosen, and `problem`
     * says why. */
    struct assignment runs;
    json_t *inputs[TIERS]; /* of these revisions; NULL if the hash is "" */
    size_t pool;
    enum reason reason; /* NONE: no problem */
    char *problem;      /* the sentence for `reason` */
    /* The problem is that no driver image is published for this host. Both tiers are set
     * nevertheless: nodes that run another driver keep it and report the problem; new nodes get
     * nothing. */
    bool no_image;
    /* The stack has Ostler's toolkit and was never completed in the pool: nodes without a stack get
     * it in turn. */
    bool toolkit_in_turn;
    bool failed;         /* one of its revisions failed in the pool */
    bool known_good;     /* it is what the pool rolls back to */
    int64_t canary_s;    /* since when its new revisions' canary nodes have been up; 0: not yet */
    struct target *good; /* known good revisions to roll back to; NULL: none, or these */
};

struct targets;

/* `policy` must be valid and is borrowed. */
struct targets *targets_new(const struct policy *policy, const struct target_sources *sources);
/* NULL is allowed. */
void targets_free(struct targets *t);
/* The target for a host. `host_driver`: the host has its own driver. Borrowed from `t`. */
const struct target *targets_for(struct targets *t, size_t pool, const struct node_facts *facts,
                                 bool host_driver);
/* The inputs of a revision that is part of a target, and its pool; NULL: no target has this hash.
 * Borrowed. */
const json_t *targets_inputs(const struct targets *t, const char *tier, const char *hash,
                             size_t *ret_pool);
/* Why a driver of a target in the pool has no image; NULL: it has one, or it is not known. Borrowed
 * from `t`. */
const char *targets_no_image(const struct targets *t, size_t pool, const char *driver);
/* Whether the policy asks for another revision on the pool's machines: at least one target is for
 * such machines, from any driver source, and none has this hash. Also true if the pool does not
 * exist. */
bool targets_displace(const struct targets *t, const json_t *inputs, const char *hash,
                      const char *pool);
/* The effective spec of a pool; borrowed. */
const json_t *targets_spec(const struct targets *t, size_t pool);
/* The next target that was requested so far, from *cursor (start with 0); NULL at the end. */
const struct target *targets_next(const struct targets *t, size_t *cursor);

#endif
