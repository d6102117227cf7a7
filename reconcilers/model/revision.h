/* A revision: the inputs of one exact tier for one kind of host, and their hash. Inputs hold what
 * reaches the kernel or the container runtime and nothing else: no resources, labels, tolerations,
 * pull secrets, priority class, and not the pool's name. */
#ifndef OSTLER_RECONCILERS_MODEL_REVISION_H
#define OSTLER_RECONCILERS_MODEL_REVISION_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/assignment.h"
#include "reconcilers/model/host.h"
#include "reconcilers/model/policy.h"

/* Where a node's driver comes from. */
enum driver_source {
    DRIVER_SOURCE_NONE,      /* the policy asks for one that this host cannot have;
                                driver_source_problem() says why */
    DRIVER_SOURCE_CONTAINER, /* NVIDIA's driver container */
    DRIVER_SOURCE_COS,       /* Google's installer for Container-Optimized OS */
    DRIVER_SOURCE_HOST,      /* the host has one: no driver tier */
};

/* The device plugin's configuration for a node. The text itself is an input: new text is a new revision, and a revision's
 * DaemonSet can be made again when the ConfigMap has changed or is gone. */
struct plugin_config {
    const char *name; /* of the ConfigMap */
    const char *key;  /* in its data */
    const char *text;
};

/* The source under a pool's wish. `host_driver`: a driver that is not ours was found on the host;
 * with AUTO and CONTAINER the node is then a Host node, since a driver of the host's own is never
 * replaced. */
enum driver_source driver_source_for(enum policy_driver_source wish, const struct host *host,
                                     bool host_driver);
/* One sentence that says why the wish cannot be met where driver_source_for() gives
 * DRIVER_SOURCE_NONE. From the arena. */
const char *driver_source_problem(struct arena *a, enum policy_driver_source wish,
                                  const struct host *host, const struct node_facts *facts);
/* "Container", "COS", "Host", or "". */
const char *driver_source_name(enum driver_source source);

/* Whose toolkit a policy asks for. */
enum toolkit_wish {
    TOOLKIT_AUTO,      /* the host's where it has one that can be used, else Ostler's */
    TOOLKIT_OF_OSTLER,
    TOOLKIT_OF_HOST,   /* Ostler installs none, whatever the host has */
};

/* toolkit.source of an effective spec. Where that is not given, toolkit.enabled says it as before there was a source: false is
 * Host, true is Ostler; without both it is Auto. */
enum toolkit_wish toolkit_wish_of(const json_t *spec);
/* Whether Ostler's toolkit is to be on such a host. */
bool toolkit_is_ostlers(const json_t *spec, const struct host *host);

/* Inputs of the tier `driver`; NULL for the sources that have none. `pool_spec` is a pool's
 * effective spec; `held` lists the inputs of revisions that the pool holds on to, best first: what the
 * policy leaves open comes from the first one that has it, and where none has, or `held` is NULL,
 * from the built-in defaults. New reference. */
json_t *driver_inputs(const json_t *pool_spec, enum driver_source source, const struct host *host,
                      const json_t *held);
/* Inputs of the tier `stack`: toolkit and device plugin. `config` may be NULL: none. New reference. */
json_t *stack_inputs(const json_t *pool_spec, enum driver_source source, const struct host *host,
                     const struct plugin_config *config, const json_t *held);

/* Inputs of a follower: no revision, but what the policy leaves open is held the same way. `traits` are bits of
 * enum follower_trait, of which those count that the follower asks for. `host` is that of any GPU node: distributions differ
 * in where the kubelet lives, and a cluster has one distribution. NULL: no node yet. New reference. */
json_t *follower_inputs(const struct operand_row *follower, const json_t *spec, const struct host *host,
                        const json_t *held, unsigned traits);
/* What a stack with these inputs means for followers: bits of enum follower_trait. */
unsigned follower_traits(const json_t *stack_inputs);

/* Inputs of the node agent, which is no operand: as expressions of a node affinity which nodes the policy selects. New
 * reference. */
json_t *agent_inputs(const json_t *spec);

/* What stands for the version of a toolkit that is the host's own. */
#define REVISION_HOST_TOOLKIT "host's own"
/* The version that people know a revision by: of a driver its own, of a stack the toolkit's. NULL: the inputs are not known, or
 * have none. Borrowed. */
const char *revision_version(const json_t *inputs, const char *tier);

/* What people call a revision: "driver 580.178.04", "toolkit 1.18.0 and device plugin 0.18.0". From the arena; NULL: the inputs
 * are not known, or name no version. */
const char *revision_title(struct arena *a, const json_t *inputs, const char *tier);
/* The same with the hash, where another revision is called the same or nobody knows what this one is: "driver 580.178.04
 * (revision 0bcdfghjkl)". `namesake`: there is such another one. From the arena. */
const char *revision_name(struct arena *a, const json_t *inputs, const char *tier, const char *hash, bool namesake);
/* Whether two different revisions of a tier are called the same. */
bool revision_same_title(const json_t *a, const json_t *b, const char *tier);

/* Whether two revisions of a tier are for the same kind of host: what both of them say of it is equal. */
bool revision_same_host(const json_t *a, const json_t *b);
/* The same, wherever the driver comes from: that is the policy's word, and may change on one machine. */
bool revision_same_machine(const json_t *a, const json_t *b);

/* A revision's hash: FNV-1a (64 bits) of the canonical text, in ten letters and digits that are
 * valid in a label and a name. */
void revision_hash(const json_t *inputs, char out[static REVISION_HASH_MAX]);
/* Whether a text could be one. */
bool revision_is_hash(const char *text);

#endif
